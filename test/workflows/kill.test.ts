import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { type Engine, startEngine } from '../../src/runtime/worker.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, mirrored, postedTwice, waitFor, windowRows } from './support.ts';

const never = new AbortController().signal;
const cli = new URL('../../bin/vetledger.js', import.meta.url).pathname;
const onePage = 50;
const clinicOptions = { seed: 31, invoices: 200, quirks: { maxPageSize: onePage } };

/** The list requests of an uninterrupted first load of the same clinic. */
async function measure(): Promise<Record<string, number>> {
  const clinic = await startTestClinic(clinicOptions);
  try {
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    return listRequests(clinic);
  } finally {
    await clinic.stop();
  }
}

let measured: ReturnType<typeof measure> | null = null;
const undisturbed = () => {
  measured ??= measure();
  return measured;
};

/** Runs a command in a separate process and kills it when it has loaded two pages of `kind`. */
async function killedCommand(clinic: TestClinic, command: string, kind: 'invoice' | 'row'): Promise<void> {
  const child = spawn(process.execPath, [cli, command, '--config', clinic.config], {
    env: clinic.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit');
  try {
    const loading = waitFor(`first ${kind}s`, async () => (await mirrored(clinic, kind)) >= 100);
    const ended = exited.then(() => Promise.reject(new Error(`vetledger ${command} ended by itself: ${said}`)));
    await Promise.race([loading, ended]);
    ended.catch(() => undefined);
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

/** A clinic whose first worker is the killed process. A worker of this process follows. */
async function afterKill(
  command: 'sync' | 'backfill',
  kind: 'invoice' | 'row',
  work: (clinic: TestClinic, engine: Engine) => Promise<void>,
): Promise<void> {
  const clinic = await startTestClinic({ ...clinicOptions, faults: { timeoutMs: { ms: 400 } } });
  let engine: Engine | null = null;
  try {
    await clinic.engine.stop();
    clinic.engine.stop = async () => {};
    await killedCommand(clinic, command, kind);
    clinic.sandbox.setFaults({ timeoutMs: null });
    engine = await startEngine(clinic.app, {}, () => undefined);
    await work({ ...clinic, engine }, engine);
  } finally {
    await engine?.stop();
    await clinic.stop();
  }
}

/** At most one more page of each list, plus the count for a command's estimate. */
function expectNearly(asked: Record<string, number>, whole: Record<string, number>): void {
  for (const [action, requests] of Object.entries(whole)) {
    expect(asked[action], action).toBeLessThanOrEqual(requests + 1 + 1);
  }
}

test.concurrent(
  'the killed window itself goes on at its page, once another worker is there',
  { timeout: 300_000 },
  () =>
    afterKill('sync', 'row', async (clinic, engine) => {
      const whole = await undisturbed();
      const [row] = await windowRows(clinic);
      const outcome = await engine.client.workflow.getHandle(row!.workflow_id, row!.run_id).result();
      expect(outcome).toMatchObject({ outcome: 'closed' });
      expectNearly(listRequests(clinic), whole);
      expect(await clinic.wrongBooks()).toEqual([]);
      expect((await clinic.reconcile()).ok).toBe(true);
      expect(await postedTwice(clinic)).toEqual([]);
    }),
);

test.concurrent.each(['invoice', 'row'] as const)(
  'a window that takes the place of one killed among its %ss goes on at its pages',
  { timeout: 300_000 },
  (kind) =>
    afterKill('sync', kind, async (clinic, engine) => {
      const [row] = await windowRows(clinic);
      // The state after the minutes that free its lease, without Temporal's retry.
      await engine.client.workflow.getHandle(row!.workflow_id, row!.run_id).terminate('test');
      await clinic.rows(`update lease set expires_at = clock_timestamp()`);
      const before = await mirrored(clinic, kind);
      const next = await runWindowNow(clinic.app, engine, 4711, { trigger: 'next', signal: never });
      expect(next).toMatchObject({ outcome: 'closed' });
      const rest = (await mirrored(clinic, kind)) - before;
      const { seen, pulled } = next;
      expect(kind === 'invoice' ? pulled.invoices : pulled.rows).toBe(rest);
      expect(kind === 'invoice' ? seen.invoices : seen.rows).toBeLessThanOrEqual(rest + onePage);
      expect(await clinic.wrongBooks()).toEqual([]);
      expect((await clinic.reconcile()).ok).toBe(true);
      expect(await postedTwice(clinic)).toEqual([]);
    }),
);

test.concurrent(
  'a backfill takes the place of one that was killed, and goes on at its pages at once',
  { timeout: 300_000 },
  () =>
    afterKill('backfill', 'row', async (clinic, engine) => {
      const whole = await undisturbed();
      const before = await mirrored(clinic, 'row');
      const next = await runWindowNow(clinic.app, engine, 4711, { trigger: 'backfill', signal: never });
      expect(next).toMatchObject({ outcome: 'closed' });
      // The killed window must not continue, because its retry would request the same pages.
      const [killed, closed] = await windowRows(clinic);
      expect(killed).toMatchObject({ outcome: 'failed', error: expect.stringContaining('backfill_superseded') });
      expect((closed!.closed_at!.getTime() - closed!.opened_at.getTime()) / 1000).toBeLessThan(25);
      expect(next.seen.rows).toBeLessThanOrEqual((await mirrored(clinic, 'row')) - before + onePage);
      // The second opening requests the first page of invoices once more.
      expectNearly(listRequests(clinic), { ...whole, 'invoice.list': whole['invoice.list']! + 1 });
      expect(await clinic.rows(`select from sync_walk`)).toEqual([]);
      // A backfill does not change the cursors of live windows.
      expect(await clinic.rows(`select from sync_cursor`)).toEqual([]);
      expect(await clinic.wrongBooks()).toEqual([]);
      expect((await clinic.reconcile()).ok).toBe(true);
      expect(await postedTwice(clinic)).toEqual([]);
    }),
);
