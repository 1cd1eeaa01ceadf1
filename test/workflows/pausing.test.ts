import { afterAll, beforeAll, expect, test } from 'vitest';
import { runDaemon } from '../../src/windows/daemon.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { openRow, waitFor, windowRows } from './support.ts';

let clinic: TestClinic;
const schedule = () => clinic.engine.client.schedule.getHandle(`sync-window/4711-${clinic.app.databaseId}`);
const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);
const status = async () => (await command('status', '--json')).json().installations[0];
const actions = () =>
  clinic.rows<{ kind: string; acted_by: string; reason: string }>(
    `select kind, acted_by, reason from action_done order by id`,
  );

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 43, invoices: 20 });
});

afterAll(async () => {
  await schedule()
    .delete()
    .catch(() => undefined);
  await clinic.stop();
});

/** Runs `work` with a daemon whose Schedule opens no window, so that only triggers open windows. */
async function withDaemon(work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const app = { ...clinic.app, config: { ...clinic.app.config, schedule: { everySeconds: 3600 } } };
  const daemon = runDaemon(app, { signal: stop.signal, watchEveryMs: 100 });
  try {
    await Promise.race([work(), daemon]);
  } finally {
    stop.abort();
    await daemon;
  }
}

const closedAfter = (id: number) =>
  waitFor('closed window', async () =>
    (await windowRows(clinic)).find((row) => row.id > id && row.outcome === 'closed'),
  );
const latest = async () => (await windowRows(clinic)).at(-1)?.id ?? 0;

test('a pause made before there is a schedule holds from its first moment, and is seen everywhere', async () => {
  expect((await command('pause', '--installation', '4711')).code).toBe(2);
  expect((await command('pause', '--reason', 'upgrade')).stderr).toContain('--yes');
  const { code, stdout } = await command(...['pause', '--installation', '4711', '--reason', 'upgrade', '--by', 'Bo']);
  expect(code).toBe(0);
  expect(stdout).toContain('vetledger resume --installation 4711');
  expect((await command('pause', '--yes', '--reason', 'again')).stdout).toContain('were already paused');
  expect(await status()).toMatchObject({ paused: { by: 'Bo', reason: 'upgrade', via: 'command' } });
  expect((await command('status')).stdout).toContain('by Bo: upgrade');

  await withDaemon(async () => {
    const { state } = await waitFor('schedule', () =>
      schedule()
        .describe()
        .catch(() => null),
    );
    expect(state).toMatchObject({ paused: true, note: 'paused by Bo: upgrade (vetledger pause)' });
    expect((await command('nudge')).stdout).toContain('they are paused');
    // If the Schedule opens a window although windows are paused, the window ends without a failure and without a row.
    await schedule().trigger();
    const { action } = await waitFor(
      'window of the trigger',
      async () => (await schedule().describe()).info.recentActions[0],
    );
    const { workflowId, firstExecutionRunId } = action.workflow;
    const ended = await clinic.engine.client.workflow.getHandle(workflowId, firstExecutionRunId).result();
    expect(ended).toMatchObject({ outcome: 'paused', message: expect.stringContaining('paused by Bo: upgrade') });
    expect(await windowRows(clinic)).toEqual([]);
    // A manual command opens a window despite the pause.
    expect((await clinic.sync()).outcome).toBe('closed');

    expect((await command('resume', '--by', 'Bo')).code).toBe(0);
    expect((await schedule().describe()).state.paused).toBe(false);
    const before = await latest();
    expect((await command('nudge', '--reason', 'month end')).code).toBe(0);
    await closedAfter(before);
  });
  expect(await actions()).toEqual([
    { kind: 'pause_windows', acted_by: 'Bo', reason: 'upgrade' },
    { kind: 'resume_windows', acted_by: 'Bo', reason: 'vetledger resume' },
    { kind: 'nudge_windows', acted_by: expect.any(String), reason: 'month end' },
  ]);
});

test('a pause in Temporal stays, is named, and ends with `resume`; a pause without Temporal is passed on later', async () => {
  await withDaemon(async () => {
    await schedule().pause('the practice moves');
    await waitFor('named pause', async () => (await status()).schedule?.paused);
    // The row decides: no command has paused the windows.
    expect((await status()).paused).toBeNull();
    expect((await schedule().describe()).state).toMatchObject({ paused: true, note: 'the practice moves' });
    expect((await command('resume', '--by', 'Bo')).stdout).toContain('continue with the schedule');
    expect((await schedule().describe()).state.paused).toBe(false);
    await waitFor('its end', async () => (await status()).schedule?.paused === false);
    expect((await command('resume', '--by', 'Bo')).stdout).toContain('were not paused');

    const args = ['pause', '--yes', '--reason', 'no server', '--by', 'Bo', '--config', clinic.config];
    const without = await vetledger(args, { ...clinic.env, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(without.code).toBe(0);
    expect(without.stderr).toContain('cannot be reached');
    await waitFor('told schedule', async () => (await schedule().describe()).state.paused);
    expect((await schedule().describe()).state.note).toBe('paused by Bo: no server (vetledger pause)');
  });
  // The Temporal server loses its data, but the row stays.
  await schedule().delete();
  await withDaemon(async () => {
    await waitFor(
      'schedule',
      async () =>
        (
          await schedule()
            .describe()
            .catch(() => null)
        )?.state.paused,
    );
    expect((await command('resume')).code).toBe(0);
    await waitFor('resumed schedule', async () => !(await schedule().describe()).state.paused);
  });
  // The first action ended the pause that was made in Temporal.
  const kinds = (await actions()).slice(3).map(({ kind }) => kind);
  expect(kinds).toEqual(['resume_windows', 'pause_windows', 'resume_windows']);
});

test('a cancelled window ends with its row, frees its lease, and the next one covers it', async () => {
  clinic.sandbox.live(5);
  clinic.sandbox.setFaults({ timeoutMs: { ms: 1500 } });
  const running = clinic.sync();
  const { id } = await openRow(clinic);
  const cancelled = await command('cancel', '--installation', '4711', '--reason', 'in the way', '--by', 'Bo', '--json');
  clinic.sandbox.setFaults({ timeoutMs: null });
  expect(cancelled.json().cancelled).toMatchObject([{ installation: 4711, kind: 'window', state: 'ended' }]);
  expect((await running).outcome).toBe('failed');
  expect((await windowRows(clinic)).find((row) => row.id === id)?.outcome).toBe('failed');
  expect(await clinic.rows(`select lane from lease where holder <> ''`)).toEqual([]);
  expect((await clinic.sync()).outcome).toBe('closed');
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await command('cancel', '--yes', '--reason', 'again')).stdout).toContain('Nothing was under way.');
  expect((await actions()).at(-1)).toEqual({ kind: 'cancel_windows', acted_by: 'Bo', reason: 'in the way' });
});
