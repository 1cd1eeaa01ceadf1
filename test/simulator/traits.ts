// The traits of a life, which depend on its seed.

import type { Quirks } from '../../sandbox/src/quirks.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import type { Troubles } from './mortal.ts';

/**
 * The reliability of the source. `unsteady`: its order, clock and commits are unreliable. `hostile`: so are its
 * answers.
 */
export type SourceKind = 'steady' | 'unsteady' | 'hostile';

export interface Traits {
  source: SourceKind;
  invoices: number;
  windows: number;
  quirks: Partial<Quirks>;
  /** Offsets of the clinic's clock from the true time. It changes from one to the next between windows. */
  clocksMs: number[];
  /** The clock of the `Date` header less that of `modified`. */
  dateSkewMs: number;
  /** True if records have whole seconds only. */
  inSeconds: boolean;
  latencyMs: { usual: number; longest: number };
  /** The time at which the life begins. */
  startMs: number;
  overlapMs: number;
  /** The share of requests during which an event happens at the clinic. */
  unrest: number;
  /** Invoices change again in the second in which they were read. */
  bursts: boolean;
  /** Staff delete records. */
  deletes: boolean;
  /** Backups are restored: records go back to an earlier version and its `modified`. */
  restores: boolean;
  /** At the end, records change, appear and disappear without a new `modified`. A pass of the scrub follows. */
  unseen: boolean;
  /** At the end, the source hides posted documents for some windows. */
  hides: boolean;
  /** True if some windows count the lists. */
  counts: boolean;
  /** The number of worker processes. */
  processes: number;
  troubles: Troubles;
  /** Shares of failed requests to the practice and to the ERP, of statements at which a connection breaks, and of lost completions. */
  practiceFaults: number;
  erpFaults: number;
  breaks: number;
  lostCompletions: number;
  /** The ERP's record; null if nothing is delivered. */
  erp: string | null;
}

/** Names of the traits by which `--trait` chooses lives. */
export const traitNames = ['steady', 'unsteady', 'hostile', 'erp', 'crashes'] as const;
export type TraitName = (typeof traitNames)[number];

export const noTroubles: Troubles = { dies: 0, diesSending: 0, stands: 0 };
const hourMs = 3_600_000;
const start = Date.parse('2026-03-06T06:00:00Z');
/** The instants at which the zone changes its clocks. */
const clockChanges = [Date.parse('2026-03-29T01:00:00Z'), Date.parse('2026-10-25T01:00:00Z')];
/** ERPs that differ in the effect of a request whose answer is lost. */
const erps = ['tryton', 'fortnox', 'overwriting', 'stubborn_drafts'];
/** The longest delay of a commit, as a share of the overlap. */
const latestOfOverlap = 0.8;

export function hasTrait({ source, erp, troubles, breaks }: Traits, name: TraitName): boolean {
  if (name === 'erp') return erp !== null;
  if (name === 'crashes') return troubles.dies + troubles.diesSending + troubles.stands + breaks > 0;
  return source === name;
}

/** The traits of a seed. `given` replaces some of them. */
export function traitsOf(seed: number, given: Partial<Traits> = {}): Traits {
  const rng = new Rng(seed, 'traits');
  const drawn = rng.weighted<SourceKind>([
    ['steady', 3],
    ['unsteady', 4],
    ['hostile', 3],
  ]);
  const source = given.source ?? drawn;
  const isCrashing = rng.chance(0.5);
  return {
    ...{ source, invoices: rng.int(2, source === 'hostile' ? 30 : 12), windows: rng.int(1, 3) },
    ...sourceOf(new Rng(seed, 'source'), source),
    ...{ unseen: source !== 'hostile' && rng.chance(0.2), hides: source === 'steady' && rng.chance(0.3) },
    processes: rng.pick([1, 2, 2]),
    troubles: isCrashing
      ? {
          dies: rng.pick([0, 0.0005, 0.002, 0.006]),
          diesSending: rng.pick([0, 0.01, 0.05]),
          stands: rng.pick([0, 0, 0.001, 0.003]),
        }
      : noTroubles,
    breaks: isCrashing ? rng.pick([0, 0, 0.001, 0.004]) : 0,
    lostCompletions: isCrashing ? rng.pick([0, 0.02, 0.1]) : 0,
    practiceFaults: rng.pick([0, 0.02, 0.1]),
    erpFaults: rng.pick([0, 0.05, 0.2]),
    erp: rng.chance(0.4) ? rng.pick(erps) : null,
    ...given,
  };
}

const steady = {
  quirks: {} as Partial<Quirks>,
  clocksMs: [0],
  dateSkewMs: 0,
  inSeconds: false,
  latencyMs: { usual: 40, longest: 40 },
  startMs: start,
  overlapMs: 600_000,
  unrest: 0,
  ...{ bursts: false, deletes: false, restores: false, counts: false },
};

function sourceOf(rng: Rng, kind: SourceKind): typeof steady {
  switch (kind) {
    case 'steady':
      return steady;
    case 'unsteady':
      return unsteady(rng);
    case 'hostile':
      return { ...steady, quirks: looks(rng), deletes: rng.chance(0.3), counts: true };
  }
}

function unsteady(rng: Rng): typeof steady {
  const overlapMs = rng.pick([60_000, 600_000]);
  const bursts = rng.chance(0.15);
  const hasDate = rng.chance(bursts ? 0.5 : 0.9);
  // If no answer shows the clock, it may be ahead. It may be behind only by less than vetledger's margin for that.
  const clocks = hasDate
    ? [[0, 2 * hourMs], [0, -2 * hourMs], [0, 90_000, -90_000], [5 * hourMs], [-5 * hourMs], [0, 3 * hourMs, -hourMs]]
    : [[0, 2 * hourMs], [-200_000, 0], [hourMs]];
  return {
    ...{ overlapMs, bursts },
    quirks: {
      ...looks(rng),
      order: rng.pick(['id', 'id_desc', 'random', 'modified']),
      dateHeader: hasDate,
      lateCommitShare: rng.pick([0, 0.2, 0.5]),
      lateCommitMs: Math.floor(rng.pick([0.02, 0.2, latestOfOverlap]) * overlapMs),
    },
    clocksMs: bursts || !rng.chance(0.5) ? [0] : rng.pick(clocks),
    dateSkewMs: hasDate && !bursts ? rng.pick([0, 0, -2_000, 1_500]) : 0,
    inSeconds: bursts || rng.chance(0.5),
    latencyMs: bursts
      ? { usual: 15, longest: 100 }
      : rng.pick([
          { usual: 60, longest: 300 },
          { usual: 300, longest: 4_000 },
          { usual: 20, longest: 20_000 },
        ]),
    startMs: rng.chance(0.1) ? rng.pick(clockChanges) - rng.int(600_000, 2 * hourMs) : start,
    unrest: rng.pick([0, 0.1, 0.3]),
    ...{ deletes: rng.chance(0.4), restores: rng.chance(0.25), counts: rng.chance(0.5) },
  };
}

/** The form of records and lists. */
function looks(rng: Rng): Partial<Quirks> {
  const ignorable = ['id__gt', 'invoice__in', 'modified__gte', 'id__in', 'id__lt'];
  return {
    order: rng.pick(['id', 'id', 'id_desc', 'random', 'modified']),
    ignoredFilters: rng.chance(0.3) ? [rng.pick(ignorable)] : [],
    refusedFilters: rng.chance(0.15) ? [rng.pick(['invoice__in', 'id__in', 'modified__lt'])] : [],
    decimals: rng.pick(['mixed', 'string', 'number']),
    timestamps: rng.pick(['offset', 'zulu', 'naive']),
    invoiceDateAsDatetime: rng.chance(0.2),
    extraFields: rng.chance(0.3),
    urlReferences: rng.pick(['absolute', 'query', 'otherHost']),
    paymentTouchesInvoice: rng.chance(0.7),
    refundLowersUnused: rng.chance(0.7),
    defaultPageSize: rng.pick([50, 50, 10]),
    maxPageSize: rng.pick([1000, 1000, 20]),
  };
}
