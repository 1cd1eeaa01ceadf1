// The next reconciliation of an installation in `status`, and its wording.

import { beforeEach, expect, test } from 'vitest';
import { reconcileText } from '../../src/cli/commands/status-text.ts';
import { instant } from '../../src/cli/render/text.ts';
import { type PutOff, reconcileStatuses } from '../../src/queries/reconcile-turns.ts';
import { beginTurn, endTurn } from '../../src/reconcile/turns.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const installation = { id: 7, timezone: 'UTC' };
const error = { code: 'query_timeout', message: 'PostgreSQL did not answer in time.', todo: 'analyze' };
// A span of one minute, so that the turn is at 03:00 for every installation.
const span = { fromMinute: 180, toMinute: 181 };
const now = new Date('2026-02-10T12:00:00Z');
const minuteOf = (at: Date | null) => at?.toISOString().slice(0, 16) ?? null;

interface Case {
  checkedAt?: string;
  putOff?: PutOff;
  never?: true;
}

async function told({ checkedAt, putOff, never }: Case = {}) {
  const statusOf = await reconcileStatuses(db, [installation], { span: never ? null : span, now });
  const reconciled = checkedAt === undefined ? null : { ok: true, failing: [], checked_at: new Date(checkedAt) };
  const status = statusOf(
    installation,
    { reconciled, complete: true, outside: {}, left_as_posted: {}, empty: false },
    putOff ?? null,
  );
  return { ...status, next_at: minuteOf(status.next_at), text: reconcileText(status, instant, now) };
}

test('before the first turn it is the one that has passed; the daemon takes it at once', async () => {
  expect(await told()).toMatchObject({ age_seconds: null, old: true, next_at: '2026-02-10T03:00', error: null });
  expect((await told()).text).toMatch(/^never; due since 2026-02-10 03:00:\d\d UTC$/);
});

test('after a turn it is tomorrow’s', async () => {
  await beginTurn(db, 7, '2026-02-10');
  await endTurn(db, 7, null);
  const status = await told({ checkedAt: '2026-02-10T09:00:00Z' });
  expect(status).toMatchObject({ age_seconds: 10_800, old: false, next_at: '2026-02-11T03:00' });
  expect(status.text).toMatch(/^3 h 00 min ago; next 2026-02-11 03:00:\d\d UTC$/);
});

test('after a turn of today whose place has moved to later today it is tomorrow’s', async () => {
  await beginTurn(db, 7, '2026-02-10');
  await endTurn(db, 7, null);
  const later = { fromMinute: 900, toMinute: 901 };
  const statusOf = await reconcileStatuses(db, [installation], { span: later, now });
  const status = statusOf(
    installation,
    { reconciled: null, complete: true, outside: {}, left_as_posted: {}, empty: false },
    null,
  );
  expect(minuteOf(status.next_at)).toBe('2026-02-11T15:00');
});

test('after one that failed it is an hour later, and after three tomorrow’s', async () => {
  await beginTurn(db, 7, '2026-02-10');
  await endTurn(db, 7, error);
  await query(db, `update reconcile_turn set not_before = '2026-02-10T13:30:00Z'`);
  const status = await told({ checkedAt: '2026-02-07T12:00:00Z' });
  expect(status).toMatchObject({ old: true, next_at: '2026-02-10T13:30', error });
  expect(status.text).toMatch(/^3 d 0 h ago, OLD; the last attempt failed: PostgreSQL did .* in time; next /);
  await query(db, 'update reconcile_turn set attempts = 3');
  expect(await told()).toMatchObject({ next_at: '2026-02-11T03:00', error });
});

test.each<[string, Case, boolean, string | null, RegExp]>([
  ['two days ago', { checkedAt: '2026-02-08T12:00:00Z' }, false, '2026-02-10T03:00', /ago; due since/],
  ['more than that', { checkedAt: '2026-02-08T11:59:59Z' }, true, '2026-02-10T03:00', /ago, OLD; due since/],
  ['paused', { putOff: 'paused' }, false, '2026-02-10T03:00', /^never; not while its windows are paused$/],
  ['in its first load', { putOff: 'first_load' }, false, '2026-02-10T03:00', /^never; after its first load$/],
  ['turned off', { never: true }, true, null, /^never; never automatically \(reconcile\.between: never\)$/],
])('%s', async (_, which, old, next, text) => {
  const status = await told(which);
  expect(status).toMatchObject({ old, next_at: next });
  expect(status.text).toMatch(text);
});
