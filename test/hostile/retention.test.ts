// Data that is removed after its retention, and evidence that is kept at any age.

import { beforeEach, expect, test } from 'vitest';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { claimPruning, prune } from '../../src/runtime/retention.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, owner, truncate } = useDatabase();
const keepYear = { windowDays: 365, versionDays: 365, walkDays: 30, daemonDays: 30 };
const signal = new AbortController().signal;

beforeEach(truncate);

async function record(kind: string, id: number, parent: number | null): Promise<void> {
  await query(
    db,
    `insert into mirror_record (installation, kind, id, parent_id, version, source_time, first_seen_at, content_hash, raw)
     values (1, ?, ?, ?::bigint, 9, now(), now(), 'x', '{}')`,
    [kind, id, parent],
  );
}

/** Adds versions of a record, each replaced this number of days ago; null means before such times were recorded. */
async function versions(kind: string, id: number, replacedDaysAgo: (number | null)[]): Promise<void> {
  for (const [index, days] of replacedDaysAgo.entries()) {
    await query(
      db,
      `insert into mirror_version (installation, kind, id, version, source_time, content_hash, raw, replaced_at)
       values (1, ?, ?, ?, now(), 'x', '{}', now() - make_interval(days => ?::int))`,
      [kind, id, index + 1, days],
    );
  }
}

/** Adds an entry of a document that is this number of days old. */
async function entry(kind: 'invoice' | 'payment', id: number, daysAgo: number): Promise<void> {
  await owner.transaction(async (trx) => {
    await appendEntries(
      trx,
      1,
      [
        draft({
          kind,
          id,
          date: '2026-01-01',
          lines: [
            ['1700', 'receivable', '1'],
            ['3000', 'revenue', '-1'],
          ],
        }),
      ],
      { decimals: 2, windowId: null },
    );
    await query(trx, 'set local session_replication_role = replica');
    await query(
      trx,
      'update entry set created_at = now() - make_interval(days => ?::int) where kind = ? and document_id = ?',
      [daysAgo, kind, id],
    );
  });
}

async function left(kind: string, id: number): Promise<number[]> {
  const rows = await query<{ version: number }>(
    db,
    'select version from mirror_version where kind = ? and id = ? order by version',
    [kind, id],
  );
  return rows.map(({ version }) => version);
}

test('old versions go; those that an entry was posted from stay, also for rows and for the payer of a payment', async () => {
  for (const [kind, id, parent] of [
    ['invoice', 1, null],
    ['row', 11, 1],
    ['payment', 21, 1],
    ['invoice', 2, null],
    ['invoice', 3, null],
  ] as const) {
    await record(kind, id, parent);
    await versions(kind, id, [900, 800, 700, 600, 100]);
  }
  // Invoice 1 was posted from version 2, reversed, and posted again from version 4.
  await entry('invoice', 1, 850);
  await entry('payment', 21, 750);
  await versions('invoice', 4, [null, null]);
  const pruned = await prune(db, keepYear, signal);
  expect(await left('invoice', 1)).toEqual([2, 3, 5]);
  expect(await left('row', 11)).toEqual([2, 5]);
  expect(await left('payment', 21)).toEqual([3, 5]);
  expect(await left('invoice', 2)).toEqual([5]);
  expect(await left('invoice', 4)).toEqual([1, 2]);
  expect(pruned.versions).toBe(2 + 3 + 3 + 4 + 4);
});

test('windows, walks, daemons, slots and steps of no open window go; the latest window and everything of the journal stay', async () => {
  for (const [days, outcome] of [
    [900, 'closed'],
    [800, 'failed'],
    [700, 'closed'],
    [500, 'failed'],
  ] as const) {
    await query(
      db,
      `insert into sync_window (installation, kind, trigger, outcome, workflow_id, run_id, closed_at)
       values (1, 'window', 'sync', ?, 'w', ?, now() - make_interval(days => ?::int))`,
      [outcome, String(days), days],
    );
  }
  await query(
    db,
    `insert into sync_window (installation, kind, trigger, workflow_id, run_id, opened_at) values (2, 'window', 'sync', 'w', 'open', now() - interval '900 days')`,
  );
  for (const days of [40, 20]) {
    await query(
      db,
      `insert into sync_walk (installation, stream, owner, state, saved_at) values (?, 'x', 'y', '{}', now() - make_interval(days => ?::int))`,
      [days, days],
    );
    await query(
      db,
      `insert into daemon (id, command, host, process, version, task_queue, installations, heard_at) values (gen_random_uuid(), 'run', 'h', 1, '1', 'q', '{}', now() - make_interval(days => ?::int))`,
      [days],
    );
    await query(
      db,
      `insert into budget_slot (installation, action, weight, taken_at, expires_at) values (1, 'a', 1, now(), now() - make_interval(hours => ?::int))`,
      [days],
    );
  }
  for (const [run, days] of [
    ['open', 2],
    ['over', 2],
    ['opening', 0],
  ] as const) {
    await query(
      db,
      `insert into open_step (run_id, activity, installation, step, attempt, is_ended, unexplained, api, noted_at)
       values (?, '1', 2, 'pullRows', 1, true, 0, '{}', now() - make_interval(days => ?::int))`,
      [run, days],
    );
  }
  await entry('invoice', 1, 5000);
  expect(await prune(db, keepYear, signal)).toEqual({
    windows: 2,
    versions: 0,
    walks: 1,
    daemons: 1,
    slots: 1,
    steps: 1,
  });
  expect(await query(db, 'select run_id from sync_window order by id')).toMatchObject([
    { run_id: '700' },
    { run_id: '500' },
    { run_id: 'open' },
  ]);
  expect(await query(db, 'select id from entry')).toHaveLength(1);
  expect(await prune(db, { windowDays: 0, versionDays: 0, walkDays: 0, daemonDays: 0 }, signal)).toMatchObject({
    walks: 0,
    daemons: 0,
  });
});

test('one daemon a day prunes', async () => {
  await query(db, `delete from meta where key = 'pruned_at'`);
  const claims = await Promise.all([1, 2, 3, 4].map(() => claimPruning(db)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  await query(db, `update meta set value = (now() - interval '1 day')::text where key = 'pruned_at'`);
  expect(await claimPruning(db)).toBe(true);
});
