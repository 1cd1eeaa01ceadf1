// The ERP of a life: what the life, its oracle and its processes ask of one, and the one that is made from a capability record.

import { Rng } from '../../../sandbox/src/rng.ts';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import type { CompanyRef, ErpError, ErpTarget } from '../../../src/erp/port.ts';
import { type FakeRecord, type PlayedErp, records } from '../../erp/fake/records.ts';
import { FakeServer, type HeldEntry, type Misdeed } from '../../erp/fake/server.ts';
import { type Circumstances, FakeTarget, type Life, type RequestInfo, type UnderWay } from '../../erp/fake/target.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import { flaws } from './plan.ts';

/** What the oracle judges by. */
export interface JudgedErp {
  readonly record: { readonly capabilities: Capabilities & Pick<PlayedErp, 'dimensions'> };
  readonly misdeeds: readonly Misdeed[];
  /** Called whenever an entry is new in the books, or posted. */
  onChange: (entry: HeldEntry) => void;
  /** Everything in the books, drafts included. */
  held(): HeldEntry[];
}

/** How the requests of a process go. */
export interface Way {
  life: Life;
  company: CompanyRef;
  timeoutMs: number;
  underWay: UnderWay;
  network(request: RequestInfo): Circumstances;
  /** Told of every error that an answer says. */
  onError(request: RequestInfo, error: ErpError): void;
}

export interface LifeErp {
  readonly judged: JudgedErp;
  /** Requests of one call of a target, roughly: so much more often each of them may go wrong. */
  readonly requestsPerCall: number;
  /**
   * Whether what it creates late can be told from what counts, and be taken away again: it is a draft of its own beside what was
   * sent again. Elsewhere a late creation is a second posted entry, or is written into the first one.
   */
  readonly canSweepLate: boolean;
  /** Closes the days up to and including this one; false where drafts in them are in the way. */
  lock(through: string): boolean;
  unlock(): void;
  open(way: Way): ErpTarget;
  /** Something that happens to this kind of ERP for a while: what it is, and how it ends; null where nothing does. */
  mishap(): { is: string; end(): void } | null;
  /** Whether its books are compared at the end: by its own target, whose requests wait for nobody's limits. */
  readonly isReviewed: boolean;
  /** Changes posted entries by hand, each in a way of its own; what was done, by the entry's text. */
  tamper(rng: Rng, entries: readonly HeldEntry[]): Map<string, string>;
}

/** What a life decides of its ERP. */
export interface ErpTraits {
  erp: string;
  dayLimit: number | null;
  maxEntries: number | null;
}

/** One of the records, with a limit or a size of its own. */
export function fakeErp(traits: ErpTraits, seed: number, time: SimulatedTime): LifeErp {
  const rng = new Rng(seed, 'server');
  const server = new FakeServer({
    ...{ record: recordOf(traits), time, random: () => rng.next(), flaws },
    unknownReplaySeconds: rng.pick([60, 600, 86_400]),
  });
  const { key, write } = server.record.capabilities;
  return {
    ...{ judged: server, requestsPerCall: 1, isReviewed: false },
    canSweepLate: write.steps !== 'one' && write.drafts_deletable && key.lookup !== 'none' && key.unique === 'none',
    lock: (through) => server.lock(through),
    unlock: () => server.unlock(),
    open: (way) => new FakeTarget({ server, ...way }),
    mishap: () => null,
    tamper: () => new Map(),
  };
}

function recordOf({ erp: name, dayLimit, maxEntries }: ErpTraits): FakeRecord {
  const record = records[name];
  if (!record) throw new Error(`no record ${name}`);
  const { pace, write } = record.capabilities;
  const day = dayLimit === null ? [] : [{ per_seconds: 86_400, n: dayLimit, weight: 1 }];
  return {
    ...record,
    capabilities: {
      ...record.capabilities,
      pace: { ...pace, limits: [...pace.limits, ...day] },
      write: { ...write, max_entries: maxEntries ?? write.max_entries },
    },
  };
}
