// A failed attempt to open a window: its row and its event agree.

import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { windowActivities } from '../../activities/window.ts';
import { takeLease } from '../../src/db/lease.ts';
import type { DaemonEvent } from '../../src/domain/events.ts';
import { noCounts, type WindowInput } from '../../workflows/messages.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const run = { workflowId: 'sync-window/7-x', runId: '00000000-0000-4000-8000-000000000007' };
const ids = { workflow_id: run.workflowId, run_id: run.runId };
const error = { code: 'window_cancelled', message: 'it was cancelled', todo: 'nothing' };
const input: WindowInput = {
  ...{ installation: 7, trigger: 'schedule', kind: 'window', windowTimeoutSeconds: 60 },
  ...{ searchAttributes: false, fromDate: null },
};

async function noteNotOpened(): Promise<DaemonEvent[]> {
  const told: DaemonEvent[] = [];
  const deps = {
    db,
    log: pino({ enabled: false }),
    clock: () => new Date(),
    onEvent: (event: DaemonEvent) => told.push(event),
  };
  const { noteNotOpened: note } = windowActivities(deps as unknown as ActivityDeps);
  const environment = new MockActivityEnvironment({ workflowExecution: run });
  await environment.run(() => note(input, noCounts, error, '2026-05-04T09:00:00Z'));
  return told;
}

const rows = () =>
  query<{ id: number; outcome: string; error: string }>(db, 'select id, outcome, error from sync_window order by id');

test('that opened none: one row however often it is noted, and an event with its id', async () => {
  const told = await noteNotOpened();
  const [row, ...more] = await rows();
  expect(more).toEqual([]);
  expect(row).toMatchObject({ outcome: 'failed' });
  expect(told).toEqual([{ event: 'window_not_opened', installation: 7, window: row!.id, error, ...ids }]);
  expect(await noteNotOpened()).toEqual(told);
  expect(await rows()).toEqual([row]);
});

test('whose window was open when it was cancelled or its process died: the window has failed, and its lease is free', async () => {
  await query(
    db,
    `insert into sync_window (installation, kind, trigger, to_time, workflow_id, run_id)
     values (7, 'window', 'schedule', '2026-05-04T09:00:00Z', ?, ?)`,
    [run.workflowId, run.runId],
  );
  const scope = { installation: 7, lane: 'live' } as const;
  await takeLease(db, scope, `${run.workflowId}/${run.runId}`);
  const told = await noteNotOpened();
  const [row, ...more] = await rows();
  expect(more).toEqual([]);
  expect(row).toMatchObject({ outcome: 'failed' });
  expect(JSON.parse(row!.error)).toEqual(error);
  const report = {
    installation: 7,
    window: row!.id,
    from: null,
    to: '2026-05-04T09:00:00.000Z',
    outcome: 'failed',
    error,
  };
  expect(told).toMatchObject([{ event: 'window_failed', installation: 7, window: row!.id, report, ...ids }]);
  expect(await takeLease(db, scope, 'the next window')).not.toBeNull();
});
