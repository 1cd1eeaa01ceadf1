// Broken variants of the sync, each a mistake that loses records: the runs have to notice each.

import { readAtOf, type SavedReadAt } from '../../src/domain/read-at.ts';
import { canonicalJson } from '../../src/records/json.ts';
import { type Fault, faultsIn, injectFaults } from '../support/faults.ts';
import { query } from '../support/sql.ts';
import type { Traits } from './traits.ts';

const inSavePage = faultsIn<typeof import('../../src/mirror/save-page.ts')>(
  new URL('../../src/mirror/save-page.ts', import.meta.url),
);
const inChanges = faultsIn<typeof import('../../src/sync/pull-changed.ts')>(
  new URL('../../src/sync/pull-changed.ts', import.meta.url),
);
const inPayments = faultsIn<typeof import('../../src/sync/payments.ts')>(
  new URL('../../src/sync/payments.ts', import.meta.url),
);
const inRows = faultsIn<typeof import('../../src/sync/pull-rows.ts')>(
  new URL('../../src/sync/pull-rows.ts', import.meta.url),
);
const inWalk = faultsIn<typeof import('../../src/sync/walk/walk.ts')>(
  new URL('../../src/sync/walk/walk.ts', import.meta.url),
);
const inUnusable = faultsIn<typeof import('../../src/mirror/put-unusable-aside.ts')>(
  new URL('../../src/mirror/put-unusable-aside.ts', import.meta.url),
);
const inIncoming = faultsIn<typeof import('../../src/mirror/incoming.ts')>(
  new URL('../../src/mirror/incoming.ts', import.meta.url),
);
const inWatermark = faultsIn<typeof import('../../src/sync/watermark.ts')>(
  new URL('../../src/sync/watermark.ts', import.meta.url),
);
const inStreams = faultsIn<typeof import('../../src/sync/streams.ts')>(
  new URL('../../src/sync/streams.ts', import.meta.url),
);

const inAbsence = faultsIn<typeof import('../../src/documents/missing-documents.ts')>(
  new URL('../../src/documents/missing-documents.ts', import.meta.url),
);

const farFuture = { sourceTime: new Date('2200-01-01T00:00:00Z'), askedAt: new Date('2200-01-01T00:00:00Z') };
const later = (since: Date | null, byMs: number) => (since === null ? null : new Date(since.getTime() + byMs));

export const mutants: Record<string, Fault[]> = {
  'cursor = the highest id seen': [
    inPayments({ nextPaymentCursor: (real) => (context) => real.nextPaymentCursor(context, farFuture) }),
  ],
  'settled judged when the question is asked': settledWhenAsked(),
  'what is not shown any more is gone': [inAbsence({ inForceOf: () => async () => new Set() })],
  'overlap 0': [
    inChanges({
      pullChanged: (real) => (context, kind, since, invoicedFrom) =>
        real.pullChanged(context, kind, later(since, context.overlapMs), invoicedFrom),
    }),
    inRows({
      pullRows: (real) => (context, since, ports) => real.pullRows(context, later(since, context.overlapMs), ports),
    }),
  ],
  'ascending order trusted': [
    inWalk({
      // Pages look ascending, and every count looks as if nothing had come or gone between two pages.
      walk: (real) => (ports, options) => {
        const expected = new Map<string, number>();
        return real.walk(
          {
            ...ports,
            ask: async (request) => {
              const answer = await ports.ask(request);
              if (answer === null) return null;
              const { id__gt: _, ...others } = request.filters;
              const question = JSON.stringify(others);
              const count = expected.get(question) ?? answer.count;
              expected.set(question, count - answer.results.length);
              return { ...answer, count, results: answer.results.toSorted((a, b) => a.id - b.id) };
            },
          },
          options,
        );
      },
    }),
  ],
  'an older answer overwrites a newer one': [
    inSavePage({
      // The list's answer before this one is saved once more, as by an activity past its time-out, and whatever is there counts as
      // older than any answer.
      savePage: (real) => {
        const before = new Map<string, Parameters<typeof real.savePage>[3]>();
        return async (trx, scope, kind, page, findOwnEchoes) => {
          const saved = await real.savePage(trx, scope, kind, page, findOwnEchoes);
          const list = `${scope.installation} ${kind}`;
          const older = before.get(list);
          before.set(list, page);
          if (older === undefined) return saved;
          await query(
            trx,
            `update mirror_record m set source_time = '1970-01-01', asked_at = '1970-01-01', answered_at = '1970-01-01', modified = null
             from unnest(?::bigint[], ?::text[]) as t(id, raw)
             where m.installation = ? and m.kind = ? and m.id = t.id and m.raw::text <> t.raw`,
            [
              older.results.map(({ id }) => id),
              older.results.map(({ value }) => canonicalJson(value)),
              scope.installation,
              kind,
            ],
          );
          await real.savePage(trx, scope, kind, older, findOwnEchoes);
          return saved;
        };
      },
    }),
  ],
  'the later modified always wins': [
    inIncoming({
      isLater: (real) => (read, next, stored) =>
        next.modified && stored.modified && next.modified.getTime() !== stored.modified.getTime()
          ? next.modified > stored.modified
          : real.isLater(read, next, stored),
    }),
  ],
  'watermark = source time alone': [
    inWatermark({
      cursorAfter: (real) => (before, read, overlapMs) => ({
        ...real.cursorAfter(before, read, overlapMs),
        watermark: read.sourceTime.toISOString(),
      }),
      changedFrom: (real) => (value) => real.changedFrom(value, null),
    }),
  ],
  'no question again after a clock was put back': [
    inWatermark({ changedFrom: (real) => (value) => real.changedFrom(value, null) }),
  ],
  'rows accepted within the second of modified': [
    inSavePage({
      savePage: (real) => async (trx, scope, kind, page, findOwnEchoes) => {
        const saved = await real.savePage(trx, scope, kind, page, findOwnEchoes);
        await query(
          trx,
          `update mirror_record set rows_fresh_from = least(rows_fresh_from, date_trunc('second', modified))
           where installation = ? and kind = 'invoice' and ? = 'invoice' and id = any(?)`,
          [scope.installation, kind, saved.changedIds],
        );
        return saved;
      },
    }),
  ],
  'records without an id are named nowhere': [inUnusable({ putUnusableAside: () => async () => undefined })],
};

/** The next question begins above what is settled by then, not above what was when the walk before it began. */
function settledWhenAsked(): Fault[] {
  const opened = new WeakMap<object, SavedReadAt>();
  return [
    inStreams({
      pullStream: (real) => (context, stream, window, ports) => {
        if (window.opened) opened.set(context, window.opened);
        return real.pullStream(context, stream, window, ports);
      },
    }),
    inPayments({
      pullPayments: (real) => async (context, after) => {
        const to = opened.get(context);
        return real.pullPayments(context, to ? await real.nextPaymentCursor(context, readAtOf(to)) : after);
      },
    }),
  ];
}

/** Lives without what finds missed records in another way than by windows: counts, a backfill, the scrub. */
const windowsOnly: Partial<Traits> = { deletes: false, restores: false, unseen: false, counts: false };

/** Lives in which invoices change again in the second in which they were read, and the source's clock tells it. */
const secondsThatCount: Partial<Traits> = {
  ...{ bursts: true, precision: 'seconds', latencyMs: { usual: 20, longest: 300 } },
  ...{ hasDateHeader: true, dateSkewMs: 0, clocksMs: [0], listedTwice: 0 },
};

/** The traits of lives in which nothing else makes up for a mutant's mistake, so that few lives are enough to notice it. */
export function livesOf(mutant: string): Partial<Traits> {
  switch (mutant) {
    case 'cursor = the highest id seen':
      return windowsOnly;
    case 'watermark = source time alone':
      return { ...windowsOnly, clocksMs: [0, 7_200_000], overlapMs: 60_000 };
    case 'no question again after a clock was put back':
      return { ...windowsOnly, clocksMs: [0, -7_200_000], overlapMs: 60_000 };
    case 'rows accepted within the second of modified':
      // Where the server does not tell changed rows, the next window reads recent sets again.
      return { ...windowsOnly, ...secondsThatCount };
    case 'records without an id are named nowhere':
      return { large: null, listedTwice: 0, unusable: 9 };
    default:
      return {};
  }
}

/** Has what this process loads from here on be the mutant. */
export function applyMutant(name: string): void {
  const faults = mutants[name];
  if (!faults) throw new Error(`no mutant ${name}`);
  injectFaults(faults);
}
