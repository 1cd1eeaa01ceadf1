import { setImmediate } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { noProgressMinutes, unexplainedAttemptsAtMost } from '../../activities/attempts.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { type Heartbeat, stopWithinMs, withHeartbeat, withSimpleHeartbeat } from '../../activities/heartbeat.ts';
import { takeLease } from '../../src/db/lease.ts';
import { noteStep, type OpenStep, readStep } from '../../src/db/open-steps.ts';
import type { Db } from '../../src/db/pool.ts';
import { UserError } from '../../src/domain/errors.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { noUse, type WindowInput } from '../../workflows/messages.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
const input: WindowInput = {
  ...{ installation: 7, trigger: 'backfill', kind: 'backfill', windowTimeoutSeconds: null },
  ...{ searchAttributes: false, fromDate: null },
};
const log: string[] = [];
const depsOf = (given: Db): ActivityDeps => ({
  db: given,
  installations: new Map(),
  practice: () => {
    throw new Error('no request is expected');
  },
  workflows: { getHandle: () => ({ signal: async () => undefined }) } as unknown as ActivityDeps['workflows'],
  sealKey: null,
  clock: () => new Date(),
  log: pino({ level: 'warn' }, { write: (line: string) => log.push(line) }),
});

const workflowExecution = { workflowId: 'backfill/7', runId: 'run' };
let activities = 0;
/** A new activity without attempts. */
const activity = () => `activity ${++activities}`;
const rowOf = (activityId: string) => readStep(db, { runId: 'run', activity: activityId });

/** One attempt of an activity: its outcome and its row. `left` is the heartbeat of the previous attempt. */
function attempt(
  work: (heartbeat: Heartbeat) => Promise<unknown>,
  {
    number = 1,
    activityId = activity(),
    left = undefined as Partial<OpenStep> | undefined,
    over = db,
    givesUpAfterMs = Number.POSITIVE_INFINITY,
    isOfWindow = true,
  } = {},
) {
  const environment = new MockActivityEnvironment({
    ...{ attempt: number, activityType: 'scanRows', activityId, workflowExecution },
  });
  const sent: unknown[] = [];
  environment.on('heartbeat', (progress: unknown) => sent.push(progress));
  const outcome = environment.run(async () => {
    expect(activityInfo().attempt).toBe(number);
    if (left !== undefined) await leave(activityId, { attempt: number - 1, ...left });
    return withHeartbeat(depsOf(over), input, work, { givesUpAfterMs, isOfWindow });
  });
  return { environment, outcome, sent, row: () => rowOf(activityId) };
}

it('signals its own workflow also when a wait ends outside of the activity', async () => {
  const signalled: unknown[] = [];
  const workflows = {
    getHandle: (id: string, runId: string) => ({ signal: async () => void signalled.push([id, runId]) }),
  } as unknown as ActivityDeps['workflows'];
  const environment = new MockActivityEnvironment({
    ...{ attempt: 1, activityType: 'scanRows', activityId: activity(), workflowExecution },
  });
  const waits = Promise.withResolvers<Heartbeat>();
  const isOver = Promise.withResolvers<void>();
  const outcome = environment.run(() =>
    withHeartbeat({ ...depsOf(db), workflows }, input, async (heartbeat) => {
      waits.resolve(heartbeat);
      await isOver.promise;
    }),
  );
  // As the queue of the rate budget does when a cancelled request leaves it.
  (await waits.promise).waited(3_600_000);
  isOver.resolve();
  await outcome;
  expect(signalled[0]).toEqual(['backfill/7', 'run']);
});

const leave = (activityId: string, left: Partial<OpenStep> & { attempt: number }) =>
  noteStep(
    db,
    { runId: 'run', activity: activityId },
    {
      ...{ installation: 7, step: 'scanRows', isEnded: true, unexplained: 0, trouble: null, api: noUse, wait: null },
      ...left,
    },
  );

const failureOf = async (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );

describe('work that is to stop', () => {
  it('is awaited: a cancelled activity ends after the transaction under way, and writes nothing after it', async () => {
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const barrier = Promise.withResolvers<void>();
    const lease = await takeLease(db, { installation: 7, lane: 'backfill' }, 'test');
    if (lease === null) throw new Error('the lease is not free');
    const { environment, outcome } = attempt(async (heartbeat) => {
      const { transact } = heartbeat.hold(lease);
      for (let page = 1; ; page++) {
        await transact(async () => {
          begun.resolve();
          await barrier.promise;
          order.push(`page ${page}`);
        });
      }
    });
    const ended = failureOf(outcome).then((error) => {
      order.push('activity ended');
      return error;
    });
    await begun.promise;
    environment.cancel();
    // By then, everything that only waits for the cancellation has reacted.
    await db.raw('select 1');
    order.push('barrier gone');
    barrier.resolve();
    expect(await ended).toBeInstanceOf(CancelledFailure);
    expect(order).toEqual(['barrier gone', 'page 1', 'activity ended']);
  });

  it('what PostgreSQL ended for others beside it is explained, and tried again', async () => {
    const { outcome, row } = attempt(async () => {
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    });
    expect(await failureOf(outcome)).toMatchObject({ type: 'database_busy', nonRetryable: false });
    expect(await row()).toMatchObject({ unexplained: 0, isEnded: true });
  });

  it('ends a pause and a wait for the lease at once', async () => {
    const { environment, outcome } = attempt((heartbeat) => heartbeat.pause(3_600_000));
    const ended = failureOf(outcome);
    environment.cancel();
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });
});

describe('on virtual time', () => {
  beforeEach(async () => {
    // The time-out of the connection uses real timers, so the connection is made first.
    await db.raw('select 1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    log.length = 0;
  });
  afterEach(() => vi.useRealTimers());

  const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);

  it('a hung promise is found in minutes: the attempt fails with no_progress, naming the step', async () => {
    let heeded = false;
    const { outcome, sent, row } = attempt(async ({ beat, signal }) => {
      beat({ step: 'pulling rows', done: 200, total: null });
      signal.addEventListener('abort', () => {
        heeded = true;
      });
      await new Promise(() => undefined);
    });
    const failed = failureOf(outcome);
    await minutes(noProgressMinutes - 1);
    expect(heeded).toBe(false);
    await minutes(1);
    expect(heeded).toBe(true);
    await vi.advanceTimersByTimeAsync(stopWithinMs);
    const error = await failed;
    expect(error).toMatchObject({ type: 'no_progress', nonRetryable: false });
    expect(String(error)).toContain(`no progress for ${noProgressMinutes} minutes (step: pulling rows)`);
    expect(sent.at(-1)).toEqual({ step: 'pulling rows', done: 200, total: null });
    expect(await row()).toMatchObject({ unexplained: 1, isEnded: true });
    expect(log.join('')).toContain('did not stop within');
  });

  it('the record of an end shows every 5 s that it is under way, and nothing after it', async () => {
    const environment = new MockActivityEnvironment();
    const sent: number[] = [];
    environment.on('heartbeat', () => sent.push(Date.now()));
    const written = Promise.withResolvers<string>();
    const outcome = environment.run(() => withSimpleHeartbeat(() => written.promise));
    await minutes(1);
    expect(sent).toHaveLength(12);
    written.resolve('closed');
    expect(await outcome).toBe('closed');
    await minutes(1);
    expect(sent).toHaveLength(12);
  });

  it('leases that are not renewed while the database is away are logged once, however long and however many activities', async () => {
    let isAway = false;
    const away = async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    const asked: Promise<unknown>[] = [];
    const raw = (...statement: Parameters<Db['raw']>) => {
      const answer = isAway ? away() : Promise.resolve(db.raw(...statement));
      asked.push(answer.catch(() => undefined));
      return answer;
    };
    const failing = new Proxy(db, { get: (real, name) => (name === 'raw' ? raw : Reflect.get(real, name)) });
    const told = () => log.filter((line) => line.includes('the lease was not renewed')).length;
    const lease = await freshLease();
    const working = [1, 2].map(() =>
      attempt(
        async ({ hold, pause }) => {
          hold(lease);
          for (;;) await pause(60_000);
        },
        { over: failing },
      ),
    );
    const renewed = async () => {
      for (let seconds = 0; seconds < 60; seconds += 5) {
        await vi.advanceTimersByTimeAsync(5_000);
        // The real database answers in real time, so the test waits for it before virtual time advances.
        while (asked.length > 0) {
          await Promise.all(asked.splice(0));
          await setImmediate();
        }
      }
    };
    await renewed();
    expect(told()).toBe(0);
    isAway = true;
    await minutes(180);
    expect(told()).toBe(1);
    isAway = false;
    await renewed();
    isAway = true;
    await minutes(60);
    expect(told()).toBe(2);
    const ended = working.map(({ outcome }) => failureOf(outcome));
    for (const { environment } of working) environment.cancel();
    await Promise.all(ended);
  });

  it.each<[string, (heartbeat: Heartbeat) => Promise<void>]>([
    ['waits for the rate budget', async ({ waited }) => waited(60_000)],
    ['waits for a lease', async ({ beat }) => beat({ step: 'waiting for another window', done: 0, total: null })],
    ['writes', async ({ hold }) => void (await hold(await freshLease()).transact(async (trx) => trx.raw('select 1')))],
  ])('work that %s is not stopped, however long that takes', async (_name, once) => {
    let done = Promise.withResolvers<void>();
    const { outcome } = attempt(async (heartbeat) => {
      for (let minute = 0; minute < 4 * noProgressMinutes; minute++) {
        await once(heartbeat);
        done.resolve();
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      }
      return 'done';
    });
    outcome.catch(done.reject);
    for (let minute = 0; minute < 4 * noProgressMinutes; minute++) {
      await done.promise;
      done = Promise.withResolvers<void>();
      await minutes(1);
    }
    expect(await outcome).toBe('done');
  });
});

async function freshLease() {
  const lease = await takeLease(db, { installation: 8, lane: 'backfill' }, 'test');
  if (lease === null) throw new Error('the lease is not free');
  return lease;
}

describe('what keeps an activity from going on', () => {
  const api = { requests: 7, weight: 9, throttled: 1, waited_seconds: 2.5 };
  const trouble = {
    error: { code: 'server_error', message: 'the server failed (500)', todo: 'wait' },
    ...{ times: 5, since: '2026-01-01T03:12:00.000Z', at: '2026-01-01T03:14:00.000Z' },
    failingSince: '2026-01-01T03:10:00.000Z',
  };

  it('outlives a process that died, with what its attempts have cost', async () => {
    const { outcome, row } = attempt(
      () => Promise.reject(new PracticeError('server_error', 'the server failed (500)')),
      { number: 2, left: { isEnded: false, trouble, api } },
    );
    await failureOf(outcome);
    expect(await row()).toMatchObject({ isEnded: true, trouble: { times: 6, since: trouble.since }, api });
  });

  it('is another trouble where another error came, and gone with its row once the work succeeds', async () => {
    const left = { trouble, api };
    const refused = attempt(() => Promise.reject(new PracticeError('timeout', 'no answer')), { number: 2, left });
    await failureOf(refused.outcome);
    expect((await refused.row())?.trouble).toMatchObject({ error: { code: 'timeout' }, times: 1 });
    const worked = attempt(async ({ use }) => use(), { number: 2, left });
    expect(await worked.outcome).toEqual(api);
    expect(await worked.row()).toBeNull();
  });

  it.each<[string, (heartbeat: Heartbeat) => Promise<unknown>, { isOfWindow: boolean }]>([
    ['succeeds at once', async () => 'done', { isOfWindow: true }],
    [
      'ends for good without a request',
      () => Promise.reject(new UserError({ code: 'paused', message: 'it is paused', todo: 'resume it' }, 2)),
      { isOfWindow: true },
    ],
    [
      'fails, and nothing goes on with it',
      () => Promise.reject(new PracticeError('timeout', 'no answer')),
      { isOfWindow: false },
    ],
  ])('work that %s leaves no row', async (_name, work, options) => {
    const { outcome, row } = attempt(work, options);
    await outcome.catch(() => undefined);
    expect(await row()).toBeNull();
  });

  it('is not changed by an attempt that was taken for dead and ends after the next one', async () => {
    const activityId = activity();
    const resumed = Promise.withResolvers<void>();
    const first = attempt(
      async () => {
        await resumed.promise;
        throw new PracticeError('timeout', 'no answer');
      },
      { activityId },
    );
    const second = attempt(() => Promise.reject(new PracticeError('server_error', 'it failed')), {
      ...{ number: 2, activityId },
    });
    await failureOf(second.outcome);
    const left = await second.row();
    expect(left).toMatchObject({ attempt: 2, isEnded: true, trouble: { error: { code: 'server_error' } } });
    resumed.resolve();
    await failureOf(first.outcome);
    expect(await first.row()).toEqual(left);
  });
});

describe('a database that is away', () => {
  const away = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  const gone = new Proxy(db, { get: (real, name) => (name === 'raw' ? away : Reflect.get(real, name)) });
  const trouble = {
    error: { code: 'server_error', message: 'the server failed (500)', todo: 'wait' },
    ...{ times: 5, since: '2026-01-01T03:12:00.000Z', at: '2026-01-01T03:14:00.000Z' },
    failingSince: '2026-01-01T03:10:00.000Z',
  };

  it('fails each attempt as Temporal shows it, counts none of them as unexplained, and is noted by the next that reaches it', async () => {
    const activityId = activity();
    await leave(activityId, { attempt: 1, unexplained: 1, trouble });
    for (let number = 2; number <= 3 * unexplainedAttemptsAtMost; number++) {
      let hasWorked = false;
      const { outcome, row } = attempt(
        async () => {
          hasWorked = true;
        },
        { number, activityId, over: gone },
      );
      expect(await failureOf(outcome)).toMatchObject({ type: 'postgres_unreachable', nonRetryable: false });
      expect(hasWorked).toBe(false);
      expect(await row()).toMatchObject({ attempt: 1, unexplained: 1, trouble });
    }
    const number = 3 * unexplainedAttemptsAtMost + 1;
    const { outcome, row } = attempt(away, { number, activityId });
    expect(await failureOf(outcome)).toMatchObject({ type: 'postgres_unreachable', nonRetryable: false });
    expect(await row()).toMatchObject({
      ...{ attempt: number, unexplained: 1 },
      trouble: { error: { code: 'postgres_unreachable' }, times: 1, failingSince: trouble.failingSince },
    });
  });

  it('as the work ends fails the attempt: its row would say that it still fails', async () => {
    const activityId = activity();
    await leave(activityId, { attempt: 1, trouble });
    let isAway = false;
    const breaking = new Proxy(db, {
      get: (real, name) => (name === 'raw' && isAway ? away : Reflect.get(real, name)),
    });
    const { outcome, row } = attempt(
      async () => {
        isAway = true;
      },
      { number: 2, activityId, over: breaking },
    );
    expect(await failureOf(outcome)).toMatchObject({ type: 'postgres_unreachable', nonRetryable: false });
    expect(await row()).toMatchObject({ trouble });
  });
});

describe('a step of a first load, which has no time-out', () => {
  const failing = (minutesAgo: number): Partial<OpenStep> => {
    const at = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const error = { code: 'server_error', message: 'the server failed (500)', todo: 'wait' };
    return { trouble: { error, times: 5, since: at, at, failingSince: at } };
  };
  const refused = () => Promise.reject(new PracticeError('timeout', 'no answer'));
  const limits = { number: 9, givesUpAfterMs: 30 * 60_000 };

  it('is given up once nothing of it has succeeded for as long as a window may last, whatever the errors', async () => {
    const { outcome } = attempt(refused, { ...limits, left: failing(31) });
    expect(await failureOf(outcome)).toMatchObject({ nonRetryable: true, type: 'window_given_up' });
  });

  it('is tried again before that, and where it has just begun to fail', async () => {
    for (const left of [failing(29), { ...failing(31), trouble: null }]) {
      expect(await failureOf(attempt(refused, { ...limits, left }).outcome)).toMatchObject({ nonRetryable: false });
    }
  });

  it('fails for what is final, and not as given up', async () => {
    const denied = () => Promise.reject(new PracticeError('unauthorized', 'the token is refused'));
    const { outcome } = attempt(denied, { ...limits, left: failing(31) });
    expect(await failureOf(outcome)).toMatchObject({ nonRetryable: true, type: 'unauthorized' });
  });
});

describe('errors that nothing explains', () => {
  const broken = () => Promise.reject(new TypeError('x is not a function'));

  it('end the activity after so many attempts, counted and the last one named', async () => {
    const activityId = activity();
    for (let number = 1; number <= unexplainedAttemptsAtMost; number++) {
      const { outcome, row } = attempt(broken, { number, activityId });
      const error = await failureOf(outcome);
      expect(await row()).toMatchObject({ unexplained: number, isEnded: true });
      if (number < unexplainedAttemptsAtMost) {
        expect(error).not.toMatchObject({ nonRetryable: true });
        continue;
      }
      expect(error).toMatchObject({
        nonRetryable: true,
        type: 'unexpected',
        details: [
          {
            code: 'unexpected',
            message: `scanRows failed ${number} times for an unknown reason. The last error: x is not a function`,
          },
        ],
      });
    }
  });

  it('are not counted where a domain error explains them: a source that is down is asked for as long as the window lasts', async () => {
    const activityId = activity();
    for (let number = 1; number <= 3 * unexplainedAttemptsAtMost; number++) {
      const refused = () => Promise.reject(new PracticeError('unreachable', 'no connection'));
      const { outcome, row } = attempt(refused, { number, activityId });
      expect(await failureOf(outcome)).toMatchObject({ type: 'unreachable', nonRetryable: false });
      expect(await row()).toMatchObject({ unexplained: 0, isEnded: true });
    }
  });

  it('count the attempts whose process died, which leave no end behind', async () => {
    const died = { isEnded: false, unexplained: unexplainedAttemptsAtMost - 2 };
    let under: OpenStep | null = null;
    const { outcome, row } = attempt(
      async () => {
        under = await row();
      },
      { number: 12, left: died },
    );
    await outcome;
    expect(under).toMatchObject({ attempt: 12, unexplained: unexplainedAttemptsAtMost - 1, isEnded: false });
    const again = attempt(async () => 'done', { number: 13, left: { ...died, unexplained: died.unexplained + 1 } });
    const error = await failureOf(again.outcome);
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ nonRetryable: true, type: 'process_died' });
  });
});
