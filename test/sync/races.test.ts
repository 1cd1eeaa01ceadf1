import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { acceptRowSets } from '../../src/mirror/row-sets.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { readJson } from '../../src/records/json.ts';
import { nextPaymentCursor } from '../../src/sync/payments.ts';
import type { RecordKind } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { query } from '../support/sql.ts';

const api = 'https://practice.example/1/api/0.1';
const { db } = useDatabase();
let installation = 0;
const at = (seconds: number) => new Date(Date.parse('2026-05-04T08:00:00Z') + seconds * 1000);
const scope = () => ({ installation, timezone: 'Europe/Helsinki', dialect: loadDialect(), keepRaw: 'mapped' as const });

/** The times of an answer; the source's clock is ahead of the database's by `aheadBy` seconds. */
const times = (seconds: number, aheadBy: number) =>
  answerTimes({
    sourceTime: at(seconds + aheadBy),
    sourceTimeAtMost: at(seconds + aheadBy + 1),
    askedAt: at(seconds),
  });

/** An answer with these records, whose snapshot was taken at most a second after `seconds`. */
async function answer(
  kind: RecordKind,
  seconds: number,
  records: ({ id: number } & Record<string, unknown>)[],
  aheadBy = 0,
) {
  const results = records.map((record) => {
    const raw = JSON.stringify(record);
    return { id: record.id, raw, value: readJson(raw) };
  });
  const page = { results, ...times(seconds, aheadBy) };
  return db.transaction((trx) => savePage(trx, scope(), kind, page));
}
const invoice = (modified: string, name = 'Ann') => ({ id: 1, status: 3, payer_name: name, modified });
const row = (id: number, name: string, modified = '2026-05-04T07:00:00Z') => ({
  ...{ id, invoice: `${api}/invoice/1/`, name, sum: '1.00', sum_total: '1.00', modified },
});
const settle = (seconds: number, aheadBy = 0) =>
  db.transaction((trx) => acceptRowSets(trx, installation, [1], times(seconds, aheadBy)));
const isFresh = async () =>
  (
    await query<{ fresh: boolean }>(
      db,
      `select coalesce(rows_source_time >= rows_fresh_from, false) as fresh from mirror_record
       where installation = ? and kind = 'invoice' and id = 1`,
      [installation],
    )
  )[0]!.fresh;
const alive = async (kind: RecordKind) =>
  (
    await query<{ id: number }>(
      db,
      `select id from mirror_record where installation = ? and kind = ? and gone_at is null order by id`,
      [installation, kind],
    )
  ).map(({ id }) => id);

describe('a set of rows is fresh only for the version that its invoice had before it was asked for', () => {
  test.each([
    ['the second of its `modified` has passed', '2026-05-04T07:59:59Z', 0, true],
    ['not while that second lasts: whole seconds hide what follows in it', '2026-05-04T08:00:00Z', 0, false],
    ['once it is over', '2026-05-04T08:00:00Z', 1, true],
    ['a `modified` in the future counts as that of its answer', '2027-01-01T00:00:00Z', 1, true],
  ])('%s', async (_name, modified, settled, fresh) => {
    installation += 1;
    await answer('invoice', 0, [invoice(modified)]);
    await settle(settled);
    expect(await isFresh()).toBe(fresh);
  });

  test('a version that committed late, its `modified` before the rows were asked for', async () => {
    installation += 1;
    await answer('invoice', 0, [invoice('2026-05-04T07:50:00Z')]);
    await settle(10);
    await answer('invoice', 60, [invoice('2026-05-04T08:00:05Z', 'Bea')]);
    expect(await isFresh()).toBe(false);
  });

  test('a row that changes makes the rest of its set doubtful, in the same transaction', async () => {
    installation += 1;
    await answer('invoice', 0, [invoice('2026-05-04T07:50:00Z')]);
    await answer('row', 5, [row(1, 'a'), row(2, 'b')]);
    await settle(5);
    await answer('row', 60, [row(1, 'a')]);
    expect(await isFresh()).toBe(true);
    await answer('row', 61, [row(1, 'c', '2026-05-04T08:00:30Z')]);
    expect(await isFresh()).toBe(false);
  });
});

describe('a row that a posted invoice has lost', () => {
  const twoHours = 7_200;
  const minuteOf = (seconds: number) => at(seconds).toISOString();

  test.each<[string, { readAheadBy: number; aheadBy: number; modified: string; missing: number[] }]>([
    [
      'is missing if the invoice has not changed',
      { readAheadBy: 0, aheadBy: 0, modified: minuteOf(-600), missing: [2] },
    ],
    ['is gone if the invoice has changed', { readAheadBy: 0, aheadBy: 0, modified: minuteOf(60), missing: [] }],
    [
      'is gone if the invoice has changed after the source’s clock was put back',
      { readAheadBy: twoHours, aheadBy: 0, modified: minuteOf(60), missing: [] },
    ],
    [
      'is missing if only the source’s clock was put back',
      { readAheadBy: twoHours, aheadBy: 0, modified: minuteOf(-600), missing: [2] },
    ],
  ])('%s', async (_, { readAheadBy, aheadBy, modified, missing }) => {
    installation += 1;
    await answer('invoice', 0, [invoice(minuteOf(-600))], readAheadBy);
    await answer('row', 5, [row(1, 'a'), row(2, 'b')], readAheadBy);
    await settle(5, readAheadBy);
    await query(
      db,
      `insert into document (installation, kind, id, state, entry_id) values (?, 'invoice', 1, 'posted', 'entry')
       on conflict (installation, kind, id) do update set state = excluded.state, entry_id = excluded.entry_id`,
      [installation],
    );
    await answer('invoice', 120, [invoice(modified)], aheadBy);
    await answer('row', 130, [row(1, 'a')], aheadBy);
    await settle(130, aheadBy);
    const found = await query<{ id: number }>(
      db,
      `select id from mirror_record where installation = ? and kind = 'row' and missing_at is not null`,
      [installation],
    );
    expect(found.map(({ id }) => id)).toEqual(missing);
  });
});

describe('an older answer that arrives late', () => {
  test('does not bring back a row that a whole set no longer held; a later one does', async () => {
    installation += 1;
    await answer('invoice', 0, [invoice('2026-05-04T07:50:00Z')]);
    await answer('row', 0, [row(1, 'a'), row(2, 'b')]);
    await answer('row', 20, [row(1, 'a')]);
    await settle(20);
    await answer('row', 10, [row(2, 'b', '2026-05-04T08:00:05Z')]);
    expect(await alive('row')).toEqual([1]);
    await answer('row', 30, [row(2, 'b')]);
    expect(await alive('row')).toEqual([1, 2]);
  });

  test('where clocks tell an hour twice the answers decide, not `modified`', async () => {
    installation += 1;
    const hour = (Date.parse('2026-10-25T00:30:00Z') - at(0).getTime()) / 1000;
    await answer('invoice', hour, [invoice('2026-10-25T03:50:00', 'first pass')]);
    await answer('invoice', hour + 3600, [invoice('2026-10-25T03:10:00', 'second pass')]);
    await answer('invoice', hour + 60, [invoice('2026-10-25T03:20:00', 'late')]);
    const [held] = await query<{ raw: string }>(
      db,
      `select raw::text from mirror_record where installation = ? and kind = 'invoice'`,
      [installation],
    );
    expect(held!.raw).toContain('second pass');
  });
});

test('after a full load payments are asked from below the ids of the last day and whatever lies between known ids', async () => {
  installation += 1;
  const payment = (id: number, date_added: string) => ({ id, invoice: `${api}/invoice/1/`, paid: '1.00', date_added });
  const old = Array.from({ length: 5 }, (_, i) => payment(10 + i, '2026-05-01T08:00:00Z'));
  const today = Array.from({ length: 1500 }, (_, i) => payment(101 + i, '2026-05-04T07:58:00Z'));
  await answer('payment', 0, [...old, ...today]);
  expect(await nextPaymentCursor({ db, installation, overlapMs: 600_000 }, answerTimes({ sourceTime: at(0) }))).toBe(
    14,
  );
});
