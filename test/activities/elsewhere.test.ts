// A step that reaches a process which does not serve its installation, or which has another configuration of it.

import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openingAttemptsAtMost } from '../../activities/attempts.ts';
import { type ActivityDeps, installationOf } from '../../activities/deps.ts';
import { onlyWhereServed } from '../../activities/elsewhere.ts';
import { type Heartbeat, withHeartbeat } from '../../activities/heartbeat.ts';
import { createActivities } from '../../activities/index.ts';
import { differentIdentity } from '../../src/bookkeeping/identity.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { readStep } from '../../src/db/open-steps.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
const input = { installation: 7 };
const configured = { id: 7, currency: 'EUR', timezone: 'UTC', baseUrl: 'https://a.example/api', scrubDays: 30 };

type Serving = 'here' | 'elsewhere' | 'nowhere' | 'unknown';

function depsOf(serving: Serving): ActivityDeps {
  return {
    db,
    installations: new Map(serving === 'here' ? [[7, configured as InstallationConfig]] : []),
    isServed: () =>
      serving === 'unknown' ? Promise.reject(new Error('no database')) : Promise.resolve(serving === 'elsewhere'),
    workflows: { getHandle: () => ({ signal: async () => undefined }) },
    clock: () => new Date(),
    log: pino({ enabled: false }),
  } as unknown as ActivityDeps;
}

const workflowExecution = { workflowId: 'sync-window/7-x', runId: '00000000-0000-4000-8000-000000000007' };
let activities = 0;

/** One attempt of an activity: its result or error, its heartbeat for the next attempt, and its row. */
async function attempt(
  serving: Serving,
  {
    name = 'pullInvoices',
    number = 1,
    elsewhere = 0,
    activityId = `activity ${++activities}`,
    attemptsAtMost = Number.POSITIVE_INFINITY,
    work = async (_: Heartbeat): Promise<unknown> => 'done',
  } = {},
) {
  const environment = new MockActivityEnvironment({
    ...{ attempt: number, activityType: name, activityId, heartbeatDetails: { elsewhere }, workflowExecution },
  });
  const sent: unknown[] = [];
  environment.on('heartbeat', (note: unknown) => sent.push(note));
  const deps = depsOf(serving);
  const options = { isOfWindow: true, attemptsAtMost };
  const { [name]: activity } = onlyWhereServed(
    { [name]: (given: typeof input) => withHeartbeat(deps, given, work, options) },
    deps,
  );
  const outcome = await environment.run(() => activity!(input)).catch((error: unknown) => error);
  return {
    outcome,
    note: sent.at(-1),
    row: await readStep(db, { runId: workflowExecution.runId, activity: activityId }),
  };
}

const isLeft = { type: 'installation_elsewhere', nonRetryable: false };

describe('a process that does not serve the installation', () => {
  test.each<[Serving, name: string, number: number, outcome: unknown]>([
    ['here', 'pullInvoices', 1, 'done'],
    ['elsewhere', 'pullInvoices', 1, expect.objectContaining(isLeft)],
    ['elsewhere', 'openWindow', 99, expect.objectContaining(isLeft)],
    ['unknown', 'pullInvoices', 1, expect.objectContaining(isLeft)],
    ['nowhere', 'pullInvoices', 1, 'done'],
    // The end of a window is recorded in any case.
    ['elsewhere', 'closeWindow', 10, expect.objectContaining(isLeft)],
    ['elsewhere', 'closeWindow', 11, 'done'],
    ['elsewhere', 'holdDelivery', 1, 'done'],
  ])('serves it %s, %s, attempt %i', async (serving, name, number, outcome) => {
    expect((await attempt(serving, { name, number, elsewhere: number - 1 })).outcome).toEqual(outcome);
  });

  test('leaves the step at once, and then with growing pauses', async () => {
    const pauseOf = async (elsewhere: number) =>
      (await attempt('elsewhere', { number: elsewhere + 1, elsewhere })).outcome;
    expect(await pauseOf(0)).toMatchObject({ nextRetryDelay: 100 });
    expect(await pauseOf(3)).toMatchObject({ nextRetryDelay: 800 });
    expect(await pauseOf(90)).toMatchObject({ nextRetryDelay: 5_000 });
  });

  test('counts for nothing: the attempt that another process takes is the first one, and leaves no row', async () => {
    const { note, row } = await attempt('elsewhere', { number: 3, elsewhere: 2 });
    expect({ note, row }).toEqual({ note: { elsewhere: 3 }, row: null });
    const first = await attempt('here', { number: 4, elsewhere: 3, work: async (heartbeat) => heartbeat.attempt });
    expect(first).toEqual({ outcome: 1, note: { elsewhere: 3 }, row: null });
  });

  test('does not hide that an attempt before it failed or died', async () => {
    const activityId = 'fails';
    const work = async () => Promise.reject(new Error('unexpected'));
    await attempt('here', { activityId, number: 1, work });
    await attempt('elsewhere', { activityId, number: 2 });
    const failed = await attempt('here', { activityId, number: 3, elsewhere: 1, work });
    expect(failed.row).toMatchObject({ attempt: 2, unexplained: 2, isEnded: true });
    // An attempt that died left no heartbeat.
    const died = await attempt('here', { number: 3, elsewhere: 1, work });
    expect(died.row).toMatchObject({ attempt: 2, unexplained: 2 });
  });

  test('a step that no process serves fails with the reason, which its row shows, is tried again, and counts for nothing', async () => {
    const work = async () => installationOf(depsOf('nowhere'), 7).timezone;
    const { outcome, row } = await attempt('nowhere', { work });
    expect(outcome).toMatchObject({ type: 'installation_not_served', nonRetryable: false });
    expect(row).toMatchObject({ unexplained: 0, trouble: { error: { code: 'installation_not_served' } } });
  });

  test('slices of a scrub and of a delivery go on elsewhere, and end where no process serves them', async () => {
    const slices = (serving: Serving) => {
      const { scrubSlice, deliverSlice } = createActivities({ ...depsOf(serving), scrubs: true });
      const run = <T>(work: () => Promise<T>) => new MockActivityEnvironment().run(work);
      return Promise.all([
        run(() => scrubSlice(input)),
        run(() => deliverSlice({ ...input, searchAttributes: false })),
      ]);
    };
    expect(await slices('elsewhere')).toMatchObject([{ state: 'elsewhere', pauseMs: 1_000 }, { nextDueMs: 1_000 }]);
    expect(await slices('nowhere')).toMatchObject([{ state: 'off' }, { nextDueMs: null }]);
  });
});

test('the opening of a window has three attempts; those that were left to another process are none', async () => {
  for (const error of [new PracticeError('timeout', 'no answer'), new Error('unexpected')]) {
    const isFinal = async (number: number, elsewhere: number) => {
      const work = () => Promise.reject(error);
      const { outcome } = await attempt('here', { number, elsewhere, work, attemptsAtMost: openingAttemptsAtMost });
      return (outcome as { nonRetryable?: boolean }).nonRetryable === true;
    };
    expect(await isFinal(2, 0)).toBe(false);
    expect(await isFinal(3, 0)).toBe(true);
    expect(await isFinal(9, 7)).toBe(false);
    expect(await isFinal(9, 6)).toBe(true);
  }
});

test.each([
  ['the same', {}, null],
  ['another path of the same server', { baseUrl: 'https://a.example/v2' }, null],
  [
    'another address',
    { baseUrl: 'https://b.example/api' },
    'base_url is https://a.example there and https://b.example',
  ],
  ['another currency', { currency: 'SEK' }, 'currency is EUR there and SEK here'],
  ['another time zone', { timezone: 'Europe/Oslo' }, 'timezone is UTC there and Europe/Oslo here'],
])('a step of a window that another process has opened, with %s', (_, change, part) => {
  const opened = { currency: 'EUR', timezone: 'UTC', source: 'https://a.example' };
  const differs = differentIdentity({ ...configured, ...change } as InstallationConfig, opened);
  expect(differs?.message ?? null).toEqual(part === null ? null : expect.stringContaining(part));
});
