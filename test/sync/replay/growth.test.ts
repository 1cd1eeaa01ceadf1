// The cost of closing a window after a year of windows: it depends on the failed windows that are not covered, not on
// the history.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { integer } from '../../../src/db/columns.ts';
import { type Db, openDatabase } from '../../../src/db/pool.ts';
import { execute, row } from '../../../src/db/rows.ts';
import { gapsOf } from '../../../src/sync/replay/gaps.ts';
import { useDatabase } from '../../support/database.ts';
import { urlOfDatabase } from '../../support/server.ts';
import { costOf } from '../../support/window-cost.ts';
import { all, play, read, unread } from './play.ts';

const { db, owner, url } = useDatabase();
/** One window every five minutes for a year. Every twentieth failed, and the next one covered it. */
const year = 105_000;
const minute = 60_000;
const end = Date.parse('2026-05-04T08:00:00Z');
const ms = (minutes: number) => end + minutes * minute;
const installation = 1;
/** A superuser can end the idle connections of the work, so that their statistics are complete. */
let observer: Db;
beforeAll(() => {
  const name = new URL(url).pathname.slice(1);
  observer = openDatabase(urlOfDatabase(inject('databaseUrl'), name), { max: 1 });
});
afterAll(() => observer.destroy());

async function addYear(): Promise<void> {
  for (const table of ['sync_window', 'window_unread'])
    await execute(owner, `alter table ${table} set (autovacuum_enabled = false)`);
  await execute(
    owner,
    `insert into sync_window (installation, kind, trigger, outcome, from_time, to_time, opened_at, closed_at, payment_span,
       unread_streams, workflow_id, run_id)
     select ?, 'window', 'schedule', case when failed then 'failed' else 'closed' end,
       at - make_interval(mins => case when n % 20 = 1 then 10 else 5 end), at, at, at,
       array[n - case when n % 20 = 1 then 2 else 1 end, case when not failed then n end]::bigint[],
       case when failed then '{invoice,prepayment,row,payment}' else '{}' end::text[], 'past', 'past ' || n
     from (select n, n % 20 = 0 as failed, to_timestamp(? / 1000.0) - make_interval(mins => 5 * (? - n)::int) as at
           from generate_series(1, ?::bigint) n) times order by n`,
    [installation, end, year, year],
  );
  await execute(
    owner,
    `insert into window_unread (window_id, installation, invoice_left, prepayment_left, row_left, payment_left, covered_by, is_covered)
     select id, installation, '{}', '{}', '{}', '{}', array[id + 1], true from sync_window where outcome = 'failed'`,
  );
  await execute(owner, 'vacuum analyze sync_window');
  await execute(owner, 'vacuum analyze window_unread');
}

/** Lets this number of windows fail, closes the next one, and counts the cost of closing it. */
async function closeAfter(failures: number, of: number, since: number) {
  for (let n = 1; n <= failures; n++) {
    const streams = all(unread(ms(since), ms(since + n)), unread(year - 1, null));
    await play(db, of, { kind: 'window', outcome: 'failed', streams });
  }
  const uncovered = async () =>
    (await row(observer, { n: integer }, 'select count(*) as n from window_unread where not is_covered')).n;
  expect(await uncovered()).toBe(failures);
  const streams = all(read(ms(since), ms(since + 200)), read(year - 1, year - 1));
  const cost = await costOf(observer, () => play(db, of, { kind: 'window', outcome: 'closed', streams }));
  expect(await uncovered()).toBe(0);
  expect(cost.scanned).toEqual([]);
  return cost.buffers;
}

test('closing a window beside a year of windows costs what it costs without one, and follows from what is uncovered', {
  timeout: 120_000,
}, async () => {
  await addYear();
  const alone = await closeAfter(20, installation + 1, -5);
  const beside = await closeAfter(20, installation, -5);
  const afterMore = await closeAfter(105, installation, 195);
  expect(beside).toBeLessThan(alone * 1.5);
  expect(afterMore).toBeLessThan((beside * 105) / 20);
});

test('the check for gaps follows a year of windows, and finds none', { timeout: 60_000 }, async () => {
  expect(await gapsOf(db, installation)).toEqual({ since: expect.any(Date), gaps: [] });
});
