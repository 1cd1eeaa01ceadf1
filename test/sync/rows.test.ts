import { beforeEach, describe, expect, test } from 'vitest';
import { savePage } from '../../src/mirror/save-page.ts';
import { readJson } from '../../src/records/json.ts';
import { noteIgnored } from '../../src/sync/capabilities/filters.ts';
import { noteTimestampStyle } from '../../src/sync/capabilities/server.ts';
import type { PullContext } from '../../src/sync/context.ts';
import { pullRowSets } from '../../src/sync/pull-row-sets.ts';
import { pullRows } from '../../src/sync/pull-rows.ts';
import { completeScan } from '../../src/sync/row-scan.ts';
import { walkOnce } from '../../src/sync/saved-walks.ts';
import { useDatabase } from '../support/database.ts';
import { answerOf, answerTimes, type ListServerOptions } from '../support/practice-list.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { query } from '../support/sql.ts';

const installation = 1;
const overlapSeconds = 600;
/** The source's time of the scan's earliest answer. */
const scanned = Date.parse('2026-03-02T12:00:00Z');
const at = (secondsBeforeScan: number) => new Date(scanned - 1000 * secondsBeforeScan);

const { db, truncate } = useDatabase();
beforeEach(truncate);

const readAt = (seconds: number) => answerTimes({ sourceTime: at(seconds) });
const context = () => pullContextOf({ db, installation, overlapMs: overlapSeconds * 1000 });

/** Adds a final invoice from a walk during the scan. Times are in seconds before the scan, negative after it. */
async function mirrored(modified: number | null, answered: number): Promise<void> {
  const freshFrom = modified === null ? answered : Math.max(modified, answered);
  await db.raw(
    `insert into mirror_record (installation, kind, id, version, modified, source_time, asked_at, answered_at, first_seen_at,
       content_hash, raw, needs_rows, rows_fresh_from) values (?, 'invoice', 1, 1, ?, ?, ?, ?, ?, '', '{}', true, ?)`,
    [
      ...[installation, modified === null ? null : at(modified), at(answered + 1), at(answered), at(answered)],
      ...[at(answered + 1), at(freshFrom)],
    ],
  );
}

/** Adds a row of that invoice from a notice, changed this number of seconds before the scan. */
async function rowChanged(modified: number): Promise<void> {
  await db.raw(
    `insert into mirror_record (installation, kind, id, parent_id, version, modified, source_time, first_seen_at, content_hash, raw)
     values (?, 'row', 11, 1, 1, ?, ?, ?, '', '{}')`,
    [installation, at(modified), at(-900), at(-900)],
  );
}

/** True if the invoice's rows count as complete and fresh. */
async function isFresh(): Promise<boolean> {
  const [invoice] = await query<{ fresh: boolean }>(
    db,
    `select coalesce(rows_source_time >= rows_fresh_from, false) as fresh from mirror_record where id = 1`,
  );
  return invoice!.fresh;
}

/** Records that the invoice's rows were fetched as a complete set, late enough to be fresh. */
async function fetchedAt(seconds: number): Promise<void> {
  await db.raw(
    `update mirror_record set rows_fresh_from = least(rows_fresh_from, ?), rows_source_time = ? where id = 1`,
    [at(seconds), at(seconds)],
  );
}

const scanEnded = () =>
  walkOnce(context(), 'row', '', async () => ({ seen: 3, pulled: 3, began: readAt(0), read: readAt(0) }));

test.each<[string, { modified: number | null; answered: number; style?: 'naive' }, boolean]>([
  ['changed long before the scan, answered long after it began', { modified: 602, answered: -900 }, true],
  [
    'changed within the overlap, so that its rows may have been committed after the scan',
    { modified: 600, answered: -5 },
    false,
  ],
  [
    'the same, answered before the scan: of two walks side by side that does not tell',
    { modified: 300, answered: 200 },
    false,
  ],
  ['changed after the scan began', { modified: -1, answered: -5 }, false],
  [
    'changed half an hour before, by a clock without offset that may mean an hour later',
    { modified: 1800, answered: -5, style: 'naive' },
    false,
  ],
  ['changed more than the hour and the overlap before', { modified: 4202, answered: -5, style: 'naive' }, true],
  ['without a time of change, answered before the scan', { modified: null, answered: 1 }, true],
  ['without a time of change, answered after the scan began', { modified: null, answered: -1 }, false],
  ['changed in the future by its own account, answered before the scan', { modified: -9_000, answered: 1 }, true],
  [
    'changed in the future by its own account, answered after the scan began',
    { modified: -9_000, answered: -1 },
    false,
  ],
])('rows of an invoice %s', async (_case, { modified, answered, style }, whole) => {
  if (style) await noteTimestampStyle(db, installation, style);
  await mirrored(modified, answered);
  await scanEnded();
  expect(await completeScan(context())).toMatchObject({ began: { sourceTime: at(0) }, seen: 0, pulled: 0 });
  expect(await isFresh()).toBe(whole);
});

test.each([
  ['long before the scan', 602, true],
  ['within the overlap before it', 600, false],
  ['after it began', -30, false],
])('a set in which a row changed %s', async (_case, modified, whole) => {
  await mirrored(9_000, -900);
  await rowChanged(modified);
  await scanEnded();
  await completeScan(context());
  expect(await isFresh()).toBe(whole);
});

describe('a set that the scan does not cover is stale, although it was fresh before', () => {
  test.each<[string, { modified: number; row?: number; style?: 'naive'; clock?: 'put back' }]>([
    ['changed within the overlap', { modified: 300 }],
    ['changed half an hour before, by a clock without offset', { modified: 1800, style: 'naive' }],
    ['a row changed within the overlap', { modified: 9_000, row: 600 }],
    ['the clock was put back since', { modified: 300, clock: 'put back' }],
  ])('%s', async (_case, { modified, row, style, clock }) => {
    if (style) await noteTimestampStyle(db, installation, style);
    await mirrored(modified, 100);
    if (row !== undefined) await rowChanged(row);
    await fetchedAt(clock ? -7200 : 99);
    await scanEnded();
    await completeScan(context());
    expect(await isFresh()).toBe(false);
  });

  test('and is not stale again for another attempt once it was fetched', async () => {
    await mirrored(300, 100);
    await scanEnded();
    await completeScan(context());
    await fetchedAt(99);
    expect(await completeScan(context())).toMatchObject({ began: { sourceTime: at(0) }, seen: 0, pulled: 0 });
    expect(await isFresh()).toBe(true);
  });

  test('one that it covers stays fresh', async () => {
    await mirrored(9_000, 100);
    await fetchedAt(99);
    await scanEnded();
    await completeScan(context());
    expect(await isFresh()).toBe(true);
  });
});

/** Invoice 1 has rows 11 and 12. A later request shows row 12 elsewhere, and then the list loses it. */
test('a set that another answer leaves in doubt is stale, although it was fresh before', async () => {
  await mirrored(9_000, 100);
  await fetchedAt(99);
  const row = (id: number) => {
    const raw = `{"id": ${id}, "invoice": "http://127.0.0.1/1/api/0.1/invoice/1/"}`;
    return { id, parent: 1, raw, value: readJson(raw) };
  };
  const options: ListServerOptions = { isHonoured: () => true, order: 'ascending' };
  const list: PullContext['client']['list'] = async (_kind, filters, pageSize) => {
    const both = answerOf([row(11), row(12)], { filters: {}, pageSize: null }, options, readAt(-1));
    await db.transaction((trx) => savePage(trx, context(), 'row', both));
    await fetchedAt(99);
    return answerOf([row(11)], { filters, pageSize }, options, { ...readAt(0), answeredAt: at(-2) });
  };
  await pullRowSets({ ...context(), client: { list } }, [1]);
  expect(await isFresh()).toBe(false);
});

test('without a scan there is nothing to complete', async () => {
  expect(await completeScan(context())).toBeNull();
});

/**
 * Forty final invoices of four rows each, all in the mirror, and a list of rows that supports all filters except the
 * ignored ones.
 */
const invoices = 40;
const rowsEach = 4;
const rows = Array.from({ length: invoices * rowsEach }, (_, i) => {
  const [id, parent] = [i + 1, Math.floor(i / rowsEach) + 1];
  const raw = `{"id": ${id}, "invoice": "http://127.0.0.1/1/api/0.1/invoice/${parent}/"}`;
  return { id, parent, raw, value: readJson(raw) };
});

function rowList(ignored: string[]) {
  const asked: { filters: string[]; weight: number }[] = [];
  const options: ListServerOptions = { isHonoured: (name) => !ignored.includes(name), order: 'as stored' };
  const list: PullContext['client']['list'] = async (_kind, filters, pageSize) => {
    const answer = answerOf(rows, { filters, pageSize }, options, { sourceTime: at(0), sourceTimeAtMost: at(-1) });
    asked.push({ filters: Object.keys(filters), weight: answer.weight });
    return answer;
  };
  return { list, asked };
}

test.each([
  // With invoice__in and four rows per invoice, any number of sets weighs no more than all of them together.
  { ignored: [], stale: 10, weight: 1, by: 'invoice__in' },
  { ignored: [], stale: 39, weight: 4, by: 'invoice__in' },
  // invoice__is needs one request each, compared with 160 rows at 50 for a weight of 1.
  { ignored: ['invoice__in'], stale: 4, weight: 4, by: 'invoice__is' },
  { ignored: ['invoice__in'], stale: 5, weight: 4, by: 'id__gt' },
  { ignored: ['invoice__in', 'invoice__is'], stale: 1, weight: 4, by: 'id__gt' },
])('$stale stale sets, $ignored ignored: by $by at a weight of $weight', async ({ ignored, stale, weight, by }) => {
  for (const filter of ignored) await noteIgnored(db, installation, 'row', filter);
  const columns = 'installation, kind, id, parent_id, version, source_time, first_seen_at, content_hash, raw';
  await db.raw(
    `insert into mirror_record (${columns})
     select ?, 'row', id, (id - 1) / ? + 1, 1, ?, ?, '', '{}' from generate_series(1, ?) id`,
    [installation, rowsEach, at(9_000), at(9_000), rows.length],
  );
  await db.raw(
    `insert into mirror_record (${columns}, modified, needs_rows, rows_fresh_from, rows_source_time)
     select ?, 'invoice', id, null, 1, ?, ?, '', '{}', ?, true, ?, case when id > ? then ?::timestamptz end
     from generate_series(1, ?) id`,
    [installation, at(60), at(60), at(60), at(60), stale, at(60), invoices],
  );
  const { list, asked } = rowList(ignored);
  await pullRows({ ...context(), client: { list } }, null, {
    pause: () => Promise.reject(new Error('no need to wait')),
    sourceNow: () => null,
  });
  expect(asked.reduce((sum, question) => sum + question.weight, 0)).toBe(weight);
  expect(asked.at(-1)!.filters).toContain(by);
  const [left] = await query<{ n: number }>(
    db,
    `select count(*) as n from mirror_record where kind = 'invoice' and rows_source_time is null`,
  );
  expect(left!.n).toBe(0);
});
