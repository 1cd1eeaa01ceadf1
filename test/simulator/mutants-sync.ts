// Mutants of the pull, the mirror, posting and write-back.

import { readAtOf, type SavedReadAt } from '../../src/domain/read-at.ts';
import { canonicalJson } from '../../src/records/json.ts';
import { type Fault, faultsIn } from '../support/faults.ts';
import { query } from '../support/sql.ts';
import type { Mutant } from './mutants.ts';
import { noTroubles } from './traits.ts';

const src = (path: string) => new URL(`../../src/${path}`, import.meta.url);
const inAbsence = faultsIn<typeof import('../../src/documents/missing-documents.ts')>(
  src('documents/missing-documents.ts'),
);
const inChanges = faultsIn<typeof import('../../src/sync/pull-changed.ts')>(src('sync/pull-changed.ts'));
const inDivide = faultsIn<typeof import('../../src/domain/divide-failed.ts')>(src('domain/divide-failed.ts'));
const inIncoming = faultsIn<typeof import('../../src/mirror/incoming.ts')>(src('mirror/incoming.ts'));
const inLease = faultsIn<typeof import('../../src/db/lease.ts')>(src('db/lease.ts'));
const inLimits = faultsIn<typeof import('../../src/records/limits.ts')>(src('records/limits.ts'));
const inOutbox = faultsIn<typeof import('../../src/writeback/outbox.ts')>(src('writeback/outbox.ts'));
const inPayments = faultsIn<typeof import('../../src/sync/payments.ts')>(src('sync/payments.ts'));
const inProofs = faultsIn<typeof import('../../src/posting/proofs.ts')>(src('posting/proofs.ts'));
const inPutAside = faultsIn<typeof import('../../src/mirror/put-unusable-aside.ts')>(
  src('mirror/put-unusable-aside.ts'),
);
const inRefused = faultsIn<typeof import('../../src/mirror/refused-records.ts')>(src('mirror/refused-records.ts'));
const inRows = faultsIn<typeof import('../../src/sync/pull-rows.ts')>(src('sync/pull-rows.ts'));
const inSavePage = faultsIn<typeof import('../../src/mirror/save-page.ts')>(src('mirror/save-page.ts'));
const inStreams = faultsIn<typeof import('../../src/sync/streams.ts')>(src('sync/streams.ts'));
const inTenant = faultsIn<typeof import('../../src/records/addresses.ts')>(src('records/addresses.ts'));
const inUnusable = faultsIn<typeof import('../../src/records/unusable.ts')>(src('records/unusable.ts'));
const inWalk = faultsIn<typeof import('../../src/sync/walk/walk.ts')>(src('sync/walk/walk.ts'));
const inWatermark = faultsIn<typeof import('../../src/sync/watermark.ts')>(src('sync/watermark.ts'));

const farFuture = { sourceTime: new Date('2200-01-01T00:00:00Z'), askedAt: new Date('2200-01-01T00:00:00Z') };
const longAgo = new Date('2000-01-01T00:00:00Z');
const later = (since: Date | null, byMs: number) => (since === null ? null : new Date(since.getTime() + byMs));

/** Lives without crashes and without an ERP, which are faster. */
const quiet: Mutant['given'] = {
  world: 'installation',
  ...{ troubles: noTroubles, breaks: 0, lostCompletions: 0, practiceFaults: 0, erp: null, processes: 1, hides: false },
};
const ofHostileSeed: Mutant['given'] = { ...quiet, source: 'hostile' };
const hostile: Mutant['given'] = { ...quiet, source: 'hostile', invoices: 25, windows: 3, quirks: { order: 'id' } };
/** Lives in which only windows can find missed records. */
const windowsOnly: Mutant['given'] = {
  ...{ ...quiet, source: 'unsteady', windows: 4, invoices: 4 },
  ...{ deletes: false, restores: false, unseen: false, counts: false, bursts: false },
};
const lateCommits = { order: 'id', lateCommitShare: 0.5, lateCommitMs: 40_000 } as const;
/** Records are added while lists are read, and some are committed late. */
const busy: Mutant['given'] = { ...windowsOnly, quirks: lateCommits, overlapMs: 60_000, unrest: 0.6 };
/** Lives in which invoices change again in the second in which they were read; only the source's clock shows it. */
const bursts: Mutant['given'] = {
  ...{
    ...windowsOnly,
    bursts: true,
    inSeconds: true,
    latencyMs: { usual: 15, longest: 100 },
    clocksMs: [0],
    dateSkewMs: 0,
  },
};

export const mutants: Readonly<Record<string, Mutant>> = {
  'cursor = the highest id seen': {
    faults: [inPayments({ nextPaymentCursor: (real) => (context) => real.nextPaymentCursor(context, farFuture) })],
    given: busy,
    seed: 5,
  },
  'settled judged when the question is asked': {
    faults: settledWhenAsked(),
    given: { ...windowsOnly, quirks: lateCommits },
    seed: 36,
  },
  'what is not shown any more is gone': {
    faults: [inAbsence({ inForceOf: () => async () => new Set() })],
    given: ofHostileSeed,
    seed: 12,
  },
  'overlap 0': {
    faults: [
      inChanges({
        pullChanged: (real) => (context, kind, since, invoicedFrom) =>
          real.pullChanged(context, kind, later(since, context.overlapMs), invoicedFrom),
      }),
      inRows({
        pullRows: (real) => (context, since, ports) => real.pullRows(context, later(since, context.overlapMs), ports),
      }),
    ],
    given: { ...windowsOnly, quirks: lateCommits },
    seed: 3,
  },
  'ascending order trusted': {
    faults: [
      inWalk({
        // This walk assumes that pages are in ascending order, and that no record appears or disappears between two pages.
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
    given: { ...windowsOnly, invoices: 30, quirks: { order: 'random', defaultPageSize: 5, maxPageSize: 5 } },
    seed: 1,
  },
  'an older answer overwrites a newer one': {
    faults: [
      inSavePage({
        // This mutant saves the list's previous answer again, like an activity after its time-out, and treats all stored records as older.
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
    given: windowsOnly,
    seed: 20,
  },
  'the later modified always wins': {
    faults: [
      inIncoming({
        isLater: (real) => (read, next, stored) =>
          next.modified && stored.modified && next.modified.getTime() !== stored.modified.getTime()
            ? next.modified > stored.modified
            : real.isLater(read, next, stored),
      }),
    ],
    given: { ...windowsOnly, restores: true },
    seed: 2,
  },
  'watermark = source time alone': {
    faults: [
      inWatermark({
        cursorAfter: (real) => (before, read, overlapMs) => ({
          ...real.cursorAfter(before, read, overlapMs),
          watermark: read.sourceTime.toISOString(),
        }),
        changedFrom: (real) => (value) => real.changedFrom(value, null),
      }),
    ],
    given: { ...windowsOnly, quirks: {}, clocksMs: [0, 7_200_000], overlapMs: 60_000 },
    seed: 39,
  },
  'no question again after a clock was put back': {
    faults: [inWatermark({ changedFrom: (real) => (value) => real.changedFrom(value, null) })],
    given: { ...windowsOnly, quirks: {}, clocksMs: [0, -7_200_000], overlapMs: 60_000 },
    seed: 1,
  },
  'rows accepted within the second of modified': {
    faults: [
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
    given: bursts,
    seed: 1,
  },
  'records without an id are named nowhere': {
    faults: [inPutAside({ putUnusableAside: () => async () => undefined })],
    given: hostile,
    seed: 5,
  },
  'a batch that fails is not divided': {
    faults: [
      inDivide({
        divideFailed: () => async (_items, error) => {
          throw error;
        },
      }),
    ],
    given: ofHostileSeed,
    seed: 6,
  },
  'no record is too large': { faults: [inLimits({ excessOf: () => () => null })], given: ofHostileSeed, seed: 11 },
  'the answer of a write-back is believed': {
    faults: [inOutbox({ unreadWriteBacks: () => async () => [] })],
    given: hostile,
    seed: 12,
  },
  'no answer is later': {
    faults: [
      inSavePage({
        savePage: (real) => (trx, scope, kind, page, findOwnEchoes) =>
          real.savePage(
            trx,
            scope,
            kind,
            { ...page, sourceTime: longAgo, askedAt: longAgo, answeredAt: longAgo },
            findOwnEchoes,
          ),
      }),
    ],
    given: hostile,
    seed: 1,
  },
  'a record without an id fails its page': {
    faults: [inUnusable({ unusableOf: () => () => null })],
    given: hostile,
    seed: 9,
  },
  'an address is read as its number alone': {
    faults: [inTenant({ readAddress: () => (address) => /(\d+)\/?$/.exec(address.split(/[?#]/)[0] ?? '')?.[1] })],
    given: hostile,
    seed: 5,
  },
  'the last of two versions is believed': {
    faults: [inRefused({ refusedIn: () => () => new Map(), contradictedIn: () => () => [] })],
    given: hostile,
    seed: 25,
  },
  'amounts of any size are posted': {
    faults: [inProofs({ provePlausible: () => () => undefined, provePlausibleInvoice: () => () => undefined })],
    given: hostile,
    seed: 2,
  },
  'a lease that is never given back': {
    faults: [inLease({ releaseLease: () => async () => undefined })],
    given: { world: 'installation', erp: null },
    seed: 1,
  },
};

/** The next request begins above the payments that have settled since, instead of those that had settled when the previous walk began. */
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
