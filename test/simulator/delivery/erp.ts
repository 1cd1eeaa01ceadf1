// The ERP of a life: the interface that the round, its oracle and its processes use, and the fake ERP of a capability record.

import { Rng } from '../../../sandbox/src/rng.ts';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import type { CompanyRef, ErpError, ErpTarget } from '../../../src/erp/port.ts';
import { assumedErps, type Behaviour, played } from '../../erp/fake/assumptions.ts';
import { type FakeRecord, type PlayedErp, records } from '../../erp/fake/records.ts';
import { FakeServer, type HeldEntry, type Misdeed } from '../../erp/fake/server.ts';
import { type Circumstances, FakeTarget, type Life, type RequestInfo, type UnderWay } from '../../erp/fake/target.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import { flaws } from './plan.ts';

/** The part of the ERP that the oracle uses. */
export interface JudgedErp {
  readonly record: { readonly capabilities: Capabilities & Pick<PlayedErp, 'dimensions'> };
  readonly misdeeds: readonly Misdeed[];
  /** The ERP calls this when an entry is created in the books, or posted. */
  onChange: (entry: HeldEntry) => void;
  /** All entries in the books, including drafts. */
  held(): HeldEntry[];
}

/** The connection of a process to the ERP. */
export interface Way {
  life: Life;
  company: CompanyRef;
  timeoutMs: number;
  underWay: UnderWay;
  network(request: RequestInfo): Circumstances;
  /** The target calls this with every error in an answer. */
  onError(request: RequestInfo, error: ErpError): void;
}

export interface LifeErp {
  readonly judged: JudgedErp;
  /** The codes of the ERP in the mapping, if they are not the usual ones. */
  readonly words?: object;
  /** The approximate number of requests per call of a target. Each request can fail, so a call fails this much more often. */
  readonly requestsPerCall: number;
  /**
   * True if an entry that was created late can be recognised and deleted, because it is a separate draft. In other ERPs it is a
   * second posted entry, or it changes the first one.
   */
  readonly canSweepLate: boolean;
  /** Closes the days up to and including this one. Returns false if drafts in them prevent it. */
  lock(through: string): boolean;
  unlock(): void;
  open(way: Way): ErpTarget;
  /** Starts an accident of this kind of ERP. Returns its description and a function that ends it; null if there is none. */
  mishap(): { is: string; end(): void } | null;
  /** True if its books are compared at the end through its own target, without limits of requests. */
  readonly isReviewed: boolean;
  /** Changes posted entries manually, each in a different way. Returns what was changed, by the entry's text. */
  tamper(rng: Rng, entries: readonly HeldEntry[]): Map<string, string>;
}

/** The traits of a life that concern its ERP. */
export interface ErpTraits {
  erp: string;
  /** An ERP of the assumption matrix behaves like this; null for the behaviour of its record. */
  acts: Partial<Behaviour> | null;
  dayLimit: number | null;
  maxEntries: number | null;
}

/** Makes a fake ERP from one of the capability records, with its limit on entries or days replaced. */
export function fakeErp(traits: ErpTraits, seed: number, time: SimulatedTime): LifeErp {
  const rng = new Rng(seed, 'server');
  const { record, believed } = erpOf(traits);
  const server = new FakeServer({
    ...{ record, time, random: () => rng.next(), flaws },
    unknownReplaySeconds: rng.pick([60, 600, 86_400]),
  });
  const { key, write } = server.record.capabilities;
  return {
    ...{ judged: server, requestsPerCall: 1, isReviewed: false },
    canSweepLate: write.steps !== 'one' && write.withdraw !== 'none' && key.lookup !== 'none' && key.unique === 'none',
    lock: (through) => server.lock(through),
    unlock: () => server.unlock(),
    open: (way) => new FakeTarget({ server, ...(believed && { believed }), ...way }),
    mishap: () => null,
    tamper: () => new Map(),
  };
}

function erpOf(traits: ErpTraits): { record: FakeRecord; believed?: PlayedErp } {
  if (traits.acts === null) return { record: recordOf(traits) };
  const assumed = assumedErps[traits.erp];
  if (!assumed) throw new Error(`no record ${traits.erp}`);
  return played(assumed, traits.acts);
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
