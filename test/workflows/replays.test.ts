import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pauseOrResume } from '../../src/windows/pausing.ts';
import { runReplay } from '../../src/windows/replay.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { startSchedules } from '../../src/windows/start.ts';
import type { ReplayOutcome, ReplayRequest } from '../../workflows/messages.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, openRow, postedTwice, waitFor, windowRows } from './support.ts';

/** The Schedule would open a window every second, so it is paused. Only the tests open windows. */
let clinic: TestClinic;
const schedule = () => clinic.engine.client.schedule.getHandle(`sync-window/4711-${clinic.app.temporalName}`);
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 62, invoices: 60, overlapSeconds: 1 });
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: replays}'));
  await clinic.sync();
  await clinic.sync();
  const by = { actedBy: 'Bo', reason: 'the source fails' };
  await pauseOrResume(clinic.app, null, 4711, true, by);
  const app = { ...clinic.app, config: { ...clinic.app.config, schedule: { everySeconds: 1 } } };
  await startSchedules(app, clinic.engine);
});
afterAll(async () => {
  await schedule()
    .delete()
    .catch(() => undefined);
  await clinic?.stop();
});

const never = new AbortController().signal;
const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
const cursors = () => clinic.rows(`select stream, value::text, revision from sync_cursor order by stream`);
const failedWindows = async () => (await command('windows --failed --json')).json().windows;

/** Starts a replay like an operator in the Temporal UI. */
async function fromTheUi(input: unknown): Promise<ReplayOutcome> {
  const { client, backfillQueue: taskQueue } = clinic.engine;
  return client.workflow.execute('replay', { taskQueue, workflowId: `by-hand/${Math.random()}`, args: [input] });
}

/** The outcome of a replay while the source has faults. */
async function outcomeOf(
  request: ReplayRequest,
  faults: Parameters<typeof clinic.sandbox.setFaults>[0],
): Promise<ReplayOutcome> {
  clinic.sandbox.setFaults(faults);
  const outcome = await runReplay(clinic.app, clinic.engine, request, never);
  clinic.sandbox.setFaults({ http500: null, unauthorizedOnce: null });
  return outcome;
}

describe('a source that answers 500 for good', () => {
  test('fails the window, which is found, and replayed once the source is well', { timeout: 300_000 }, async () => {
    clinic.sandbox.live(15);
    clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
    const app = { ...clinic.app, config: { ...clinic.app.config, windowTimeoutMinutes: 4 / 60 } };
    const failed = await runWindowNow(app, clinic.engine, 4711, { trigger: 'sync', signal: never });
    const error = {
      code: 'server_error',
      message: expect.stringMatching(/\(500\) \(\d+ times since .* was given up after/),
    };
    expect(failed).toMatchObject({ outcome: 'failed', error });
    expect(await failedWindows()).toMatchObject([{ id: failed.window, covered_by: null, error }]);

    clinic.sandbox.setFaults({ http500: null });
    const before = await cursors();
    const asked = listRequests(clinic);
    const dry = await command('replay --failed --dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/cost: \d+ requests, weight \d+, about \d+ second/),
    });
    // One request of weight 1 per list gets its count.
    expect(listRequests(clinic)['invoice.list']).toBe((asked['invoice.list'] ?? 0) + 1);

    const replayed = await command('replay --failed --json');
    expect(replayed.code, replayed.stderr).toBe(0);
    const [window] = replayed.json().windows;
    expect(window).toMatchObject({ outcome: 'closed', replayed: [failed.window] });
    expect(window.changed.versions).toBeGreaterThan(0);
    expect(window.changed.posted).toBeGreaterThan(0);
    const [row] = await failedWindows();
    const [own] = await clinic.rows<{ id: number }>(`select id from sync_window where kind = 'replay'`);
    expect(row).toMatchObject({ id: failed.window, covered_by: [own!.id] });
    expect(await cursors()).toEqual(before);
    expect((await command('replay --failed')).stdout).toContain('every failed window is covered');

    // The live window finds nothing new, because the replay has read and posted it.
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed', posted: 0 });
    expect(await clinic.wrongBooks()).toEqual([]);
    expect(await postedTwice(clinic)).toEqual([]);
    expect((await command('windows --gaps')).code).toBe(0);
    const { state, info } = await schedule().describe();
    expect(state).toMatchObject({ paused: true, note: 'paused by Bo: the source fails (vetledger pause)' });
    expect(info.numActionsTaken).toBe(0);
  });
});

test('a window that never opened is covered by a replay, too', async () => {
  clinic.sandbox.setFaults({ unauthorizedOnce: { count: 9 } });
  expect(await clinic.sync()).toMatchObject({ window: null, failedToOpen: { code: 'unauthorized' } });
  clinic.sandbox.setFaults({ unauthorizedOnce: null });
  const [{ id, covered_by }] = await failedWindows();
  expect(covered_by).toBeNull();
  const { windows } = await fromTheUi({ installation: 4711, failed: true });
  expect(windows).toMatchObject([{ outcome: 'closed', replayed: [id] }]);
  expect((await failedWindows())[0]).toMatchObject({ id, covered_by: [windows[0]!.window] });
});

describe('started in the Temporal UI', () => {
  test('a closed window is read again beside a live one, and usually nothing changes', async () => {
    clinic.sandbox.live(10);
    // Source times are whole seconds: a window covers changes before the second in which it opened.
    await sleep(1_100);
    const closed = await clinic.sync();
    const { windows } = await fromTheUi({ installation: 4711, windows: [closed.window] });
    expect(windows).toMatchObject([{ outcome: 'closed', posted: 0, replayed: [closed.window] }]);
    expect(windows[0]!.seen.invoices).toBeGreaterThan(0);
    expect(windows[0]!.pulled).toEqual({ invoices: 0, rows: 0, payments: 0, prepayments: 0 });

    clinic.sandbox.live(10);
    const before = await clinic.rows<{ n: number }>(`select count(*)::int as n from mirror_record`);
    const [beside, live] = await Promise.all([
      fromTheUi({ installation: 4711, from: '2020-01-01', to: '2100-01-01' }),
      clinic.sync(),
    ]);
    expect(beside.windows).toMatchObject([{ outcome: 'closed' }]);
    expect(live).toMatchObject({ outcome: 'closed' });
    expect(before[0]!.n).toBeGreaterThan(0);
    expect(await postedTwice(clinic)).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
    expect((await command('windows --gaps')).code).toBe(0);
  });

  test.each([
    ['nothing', undefined, 'The input of the replay is wrong'],
    ['a word too many', { installation: 4711, failed: true, all: true }, 'Unrecognized key'],
    ['two choices', { installation: 4711, failed: true, windows: [1] }, 'exactly one of'],
    ['no such window', { installation: 4711, windows: [999] }, 'has no window 999'],
    ['a window of the first load', { installation: 4711, windows: [1] }, 'is a first load'],
    ['another installation', { installation: 4712, failed: true }, 'does not serve installation 4712'],
    ['a time that is none', { installation: 4711, from: 'yesterday', to: '2026-01-01' }, '“yesterday” is not a time'],
  ])('%s is refused plainly', async (_name, input, message) => {
    const error = await fromTheUi(input).catch((failure: unknown) => failure);
    const cause = error instanceof WorkflowFailedError ? error.cause : null;
    expect(cause).toBeInstanceOf(ApplicationFailure);
    expect((cause as ApplicationFailure).message).toContain(message);
  });
});

describe('problems retry', () => {
  const marks = () =>
    clinic.rows<{ kind: string; marks: number }>(
      `select kind, sum(dirty_mark)::int as marks from document group by kind order by kind`,
    );

  test.each(['--from 2020-01-01 --to 2100-01-01', '--window WINDOW'])(
    '%s judges what the mirror holds again, and asks the source nothing',
    async (choice) => {
      const [loaded] = await clinic.rows<{ id: number }>(
        `select id from sync_window where kind = 'replay' and outcome = 'closed' and (counts->'seen'->>'payments')::int > 0
         and (counts->'seen'->>'prepayments')::int > 0 order by id desc limit 1`,
      );
      const before = await marks();
      const { requests } = clinic.sandbox.stats();
      const retried = await command(`problems retry ${choice.replace('WINDOW', String(loaded!.id))} --json`);
      expect(retried.code, retried.stderr).toBe(0);
      expect(retried.json()).toMatchObject({
        windows: [{ outcome: 'closed', posted: 0, api: { requests: 0 } }],
        problems: [],
      });
      expect(clinic.sandbox.stats().requests).toBe(requests);
      const after = await marks();
      expect(after.map(({ kind, marks: n }, i) => [kind, n > before[i]!.marks])).toEqual([
        ['invoice', true],
        ['payment', true],
        ['prepayment', true],
      ]);
      expect(await clinic.rows(`select id from document where dirty`)).toEqual([]);
      expect((await windowRows(clinic)).at(-1)).toMatchObject({ trigger: 'retry', outcome: 'closed' });
    },
  );

  test('covers no failed window, since it reads nothing', async () => {
    clinic.sandbox.setFaults({ unauthorizedOnce: { count: 9, action: 'unallocatedpayment.list' } });
    const { window } = await clinic.sync();
    clinic.sandbox.setFaults({ unauthorizedOnce: null });
    expect((await command('problems retry --failed --json')).code).toBe(0);
    expect((await failedWindows())[0]).toMatchObject({ id: window, covered_by: null });
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    expect((await failedWindows())[0].covered_by).not.toBeNull();
  });

  test.each([
    ['problems retry', 2, 'Choose what to judge again'],
    ['problems retry 4711/invoice/1 --failed', 2, 'Choose what to judge again'],
    ['problems retry --from 2026-01-01', 2, 'Give --from and --to together'],
    ['problems retry --window 99999', 1, 'There is no window 99999'],
  ])('%s is refused plainly', async (line, code, message) => {
    expect(await command(line)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});

test('a failure of one interval leaves the others to be asked; a source that is gone leaves them out', {
  timeout: 120_000,
}, async () => {
  // Each window finds changes, because consecutive idle windows share a row.
  const apart = async () => {
    clinic.sandbox.live(10);
    await sleep(1_100);
    const { window } = await clinic.sync();
    await sleep(3_500);
    await clinic.sync();
    return window!;
  };
  const windows = [await apart(), await apart(), await apart()];
  const request = { installation: 4711, windows };
  const one = await outcomeOf(request, { http500: { action: 'invoice.list', count: 4 } });
  expect(one).toMatchObject({
    windows: [
      { outcome: 'failed', error: { code: 'server_error' }, replayed: [windows[0]] },
      { outcome: 'closed', replayed: [windows[1]] },
      { outcome: 'closed', replayed: [windows[2]] },
    ],
    leftOut: [],
  });
  const { windows: gone, leftOut } = await outcomeOf(
    { installation: 4711, windows },
    { unauthorizedOnce: { count: 9 } },
  );
  expect(gone).toMatchObject([{ outcome: 'failed', error: { code: 'unauthorized' }, replayed: [windows[0]] }]);
  expect(leftOut).toEqual(['2 more intervals, because this one failed: run the replay again']);
});

test('a replay that is cancelled says that it is to be run again: no later window covers it', async () => {
  clinic.sandbox.setFaults({ timeoutMs: { ms: 1_500 } });
  const { client, backfillQueue: taskQueue } = clinic.engine;
  const input = { installation: 4711, from: '2020-01-01', to: '2100-01-01' };
  const handle = await client.workflow.start('replay', {
    taskQueue,
    workflowId: `cancelled/${Math.random()}`,
    args: [input],
  });
  const open = await openRow(clinic);
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow();
  clinic.sandbox.setFaults({ timeoutMs: null });
  const row = await waitFor('end', async () =>
    (await windowRows(clinic)).find(({ id, outcome }) => id === open.id && outcome === 'failed'),
  );
  expect(JSON.parse(row.error!)).toMatchObject({
    code: 'window_cancelled',
    todo: 'Nothing was lost or changed twice. Run the replay again.',
  });
});
