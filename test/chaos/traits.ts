// What one simulated server is like: everything the specification leaves open, and what servers of this kind were seen to do.

import { Rng } from '../../sandbox/src/rng.ts';
import { type RecordKind, recordKinds } from '../../src/terms.ts';
import type { ListOrder } from '../support/practice-list.ts';

export type Order = Exclude<ListOrder, 'as stored'>;

export interface Traits {
  order: Record<RecordKind, Order>;
  /** Filters that each list honours; any other is silently ignored. */
  honoured: Record<RecordKind, Set<string>>;
  style: 'offset' | 'naive';
  precision: 'seconds' | 'fractions';
  defaultPageSize: number;
  /** The largest page that the server gives, whatever was asked. */
  pageCap: number;
  /** Share of answers without results although there are some. */
  emptyPages: number;
  /** Share of records that the lists hold (and count) twice. */
  listedTwice: number;
  /** The clock of the `Date` header less that of `modified`, ms. */
  dateSkewMs: number;
  hasDateHeader: boolean;
  /** What the practice's clock, `modified` and `Date` alike, may be ahead of the true time by; it is moved now and then. */
  clocksMs: number[];
  /** Now and then a backup is restored: records go back to an earlier version and its `modified`. */
  restores: boolean;
  latencyMs: { usual: number; longest: number };
  overlapMs: number;
  /** Latest commit after the first id or `modified` was given out. */
  latenessMs: number;
  /** Share of questions that kill the activity which asked. */
  crashes: number;
  /** Share of questions during which something happens at the source. */
  unrest: number;
  /** Invoices are changed again in the very second in which they were read, and nothing but the clock can tell. */
  bursts: boolean;
  /** Deletions happen at all. */
  deletes: boolean;
  /** The life begins so many ms before the zone's clocks are put back or forward; null: far from it. */
  clockChange: { at: number; before: number } | null;
  /** A list of so many records, more than offsets reach; null: none. */
  large: { kind: RecordKind; records: number; atOnce: boolean } | null;
  windows: number;
  /** At the end, records change, come and go as no question can tell, and a pass of the scrub follows. */
  unseen: boolean;
  /** Windows count the lists, some of them: a count that differs has the missing records fetched. */
  counts: boolean;
  /** Every so many documents have an id that no program can use, from the beginning and for ever; 0: none. */
  unusable: number;
}

const idFilters = ['id__gt', 'id__lt'];
const specified: Record<RecordKind, string[]> = {
  invoice: [...idFilters, 'modified__gte', 'invoice_date__gte', 'invoice_date__lte'],
  row: [...idFilters, 'modified__gte', 'invoice__is', 'invoice__in'],
  payment: [...idFilters, 'invoice__is'],
  prepayment: [...idFilters, 'modified__gte'],
};
/** Operators of the specification on fields where it does not name them, and such as were seen elsewhere. */
const perhaps: Record<RecordKind, string[]> = {
  invoice: ['id__lte', 'modified__lte', 'modified__lt', 'ordering'],
  row: ['id__lte', 'modified__lte', 'modified__lt', 'ordering'],
  payment: ['id__lte', 'date_added__gte', 'date_added__lte', 'invoice__in', 'ordering'],
  prepayment: ['id__lte', 'modified__lte', 'modified__lt', 'ordering'],
};

/** The zone's changes of clocks near which some lives begin. */
export const timezone = 'Europe/Helsinki';
const changes = [Date.parse('2026-03-29T01:00:00Z'), Date.parse('2026-10-25T01:00:00Z')];

export function traitsOf(seed: number): Traits {
  const rng = new Rng(seed, 'traits');
  const orders: [Order, number][] = [
    ['ascending', 5],
    ['descending', 2],
    ['random', 1],
    ['modified', 2],
    ['modified descending', 1],
  ];
  const oneOrder = rng.chance(0.6) ? rng.weighted(orders) : null;
  const order = {} as Traits['order'];
  const honoured = {} as Traits['honoured'];
  const ignoring = rng.weighted<number>([
    [0, 3],
    [0.15, 3],
    [0.5, 1],
  ]);
  for (const kind of recordKinds) {
    order[kind] = oneOrder ?? rng.weighted(orders);
    honoured[kind] = new Set([
      ...specified[kind].filter(() => !rng.chance(ignoring)),
      ...perhaps[kind].filter(() => rng.chance(0.4)),
    ]);
  }
  const listedTwice = rng.chance(0.15) ? 0.05 : 0;
  const defaultPageSize = rng.pick([5, 10, 20, 50]);
  const bursts = rng.chance(0.1);
  const hasDateHeader = rng.chance(bursts ? 0.3 : 0.9);
  const large = rng.chance(0.015)
    ? { kind: rng.pick(recordKinds), records: rng.int(10_200, 11_000), atOnce: rng.chance(0.7) }
    : null;
  for (const kind of recordKinds) {
    const isLarge = large?.kind === kind;
    // What no question can tell apart cannot be proven either: such a list is an error, as test/sync/divide.test.ts shows.
    if ((isLarge || listedTwice > 0) && !canBeDivided(kind, order[kind], honoured[kind], isLarge)) {
      for (const filter of idFilters) honoured[kind].add(filter);
    }
  }
  // A clock that nothing tells may be ahead, or behind by less than what is taken off for that.
  const faults = new Rng(seed, 'clock faults');
  const hour = 3_600_000;
  const clocks =
    bursts || large || !faults.chance(0.4)
      ? [0]
      : faults.pick(
          hasDateHeader
            ? [
                [0, 2 * hour],
                [0, -2 * hour],
                [0, 90_000, -90_000],
                [5 * hour],
                [-5 * hour],
                [0, 3 * hour, -hour, -2 * hour],
              ]
            : [[0, 2 * hour], [-200_000, 0], [hour]],
        );
  return {
    order,
    honoured,
    style: rng.chance(0.3) ? 'naive' : 'offset',
    precision: bursts || rng.chance(0.5) ? 'seconds' : 'fractions',
    defaultPageSize: large ? 50 : defaultPageSize,
    pageCap: large ? rng.pick([250, 1000]) : rng.pick([defaultPageSize, 25, 40, 100, 1000]),
    emptyPages: rng.chance(0.2) ? 0.04 : 0,
    listedTwice,
    // Without a Date header our own clock stands in: that case is one of clocks that agree.
    dateSkewMs: hasDateHeader && !bursts ? rng.pick([0, 0, 0, -2_000, 1_500]) : 0,
    hasDateHeader,
    clocksMs: clocks,
    restores: !large && faults.chance(0.25),
    latencyMs: bursts
      ? { usual: 20, longest: 300 }
      : rng.pick([
          { usual: 60, longest: 300 },
          { usual: 300, longest: 4_000 },
          { usual: 20, longest: 20_000 },
        ]),
    overlapMs: rng.pick([60_000, 600_000]),
    latenessMs: 0.85,
    crashes: rng.pick([0, 0, 0.01, 0.05]),
    unrest: rng.pick([0, 0.1, 0.3]),
    bursts,
    deletes: rng.chance(0.6),
    clockChange: rng.chance(0.1) ? { at: rng.pick(changes), before: rng.int(600_000, 7_200_000) } : null,
    large,
    windows: large ? 2 : rng.int(3, 6),
    // Last, so that the traits before it are those of a seed's earlier lives.
    unseen: rng.chance(0.35),
    counts: rng.chance(0.5),
    // Copies of what has no id cannot be told from others of its kind.
    unusable: large || listedTwice > 0 || !rng.chance(0.2) ? 0 : 9,
  };
}

function canBeDivided(kind: RecordKind, order: Order, honoured: Set<string>, isLarge: boolean): boolean {
  const has = (...filters: string[]) => filters.some((filter) => honoured.has(filter));
  if (has('id__gt') && (order === 'ascending' || has('id__lt', 'id__lte', 'ordering'))) return true;
  if (order === 'descending' && has('id__lt', 'id__lte')) return true;
  if (!isLarge) return order === 'ascending' || order === 'descending';
  if (kind === 'invoice') return has('invoice_date__gte') && has('invoice_date__lte');
  return kind !== 'prepayment' && has('invoice__is', 'invoice__in');
}
