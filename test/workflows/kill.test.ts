import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { runWindow } from '../../src/windows.ts';
import { type Engine, startEngine } from '../../src/worker.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, mirrored, postedTwice, waitFor, windowRows } from './support.ts';

const never = new AbortController().signal;
const cli = new URL('../../bin/vetledger.js', import.meta.url).pathname;
const onePage = 50;
const clinicOptions = { seed: 31, invoices: 200, quirks: { maxPageSize: onePage } };

/** List requests of an undisturbed first load of the same clinic. */
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

/** `vetledger sync` as a process of its own, killed without warning when it has loaded two pages of `kind`. */
async function killedSync(clinic: TestClinic, kind: 'invoice' | 'row'): Promise<void> {
  const child = spawn(process.execPath, [cli, 'sync', '--config', clinic.config], {
    env: clinic.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit');
  try {
    const loading = waitFor(`first ${kind}s`, async () => (await mirrored(clinic, kind)) >= 100, 40_000);
    const ended = exited.then(() => Promise.reject(new Error(`vetledger sync ended by itself: ${said}`)));
    await Promise.race([loading, ended]);
    ended.catch(() => undefined);
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

/** A clinic whose worker is the killed process, and only after that one of this process. */
async function afterKill(
  kind: 'invoice' | 'row',
  work: (clinic: TestClinic, engine: Engine) => Promise<void>,
): Promise<void> {
  const clinic = await startTestClinic({ ...clinicOptions, faults: { timeoutMs: { ms: 400 } } });
  let engine: Engine | null = null;
  try {
    await clinic.engine.stop();
    clinic.engine.stop = async () => {};
    await killedSync(clinic, kind);
    // As in a load of some minutes: rows cover invoices that were there two minutes before their scan.
    await clinic.rows(`update mirror_record set first_seen_at = first_seen_at - interval '5 minutes'`);
    clinic.sandbox.setFaults({ timeoutMs: null });
    engine = await startEngine(clinic.app, {}, () => undefined);
    await work({ ...clinic, engine }, engine);
  } finally {
    await engine?.stop();
    await clinic.stop();
  }
}

/** Of each list one page more at most. */
function expectNearly(asked: Record<string, number>, whole: Record<string, number>): void {
  for (const [action, requests] of Object.entries(whole)) {
    expect(asked[action], action).toBeLessThanOrEqual(requests + 1);
  }
}

test.concurrent(
  'the killed window itself goes on at its page, once another worker is there',
  { timeout: 120_000 },
  () =>
    afterKill('row', async (clinic, engine) => {
      const whole = await undisturbed();
      const [row] = await windowRows(clinic);
      const outcome = await engine.client.workflow.getHandle(row!.workflow_id, row!.run_id).result();
      expect(outcome).toMatchObject({ outcome: 'closed' });
      expectNearly(listRequests(clinic), whole);
      expect((await clinic.reconcile()).ok).toBe(true);
      expect(await postedTwice(clinic)).toEqual([]);
    }),
);

test.concurrent.each(['invoice', 'row'] as const)(
  'a window that takes the place of one killed among its %ss goes on at its pages',
  { timeout: 120_000 },
  (kind) =>
    afterKill(kind, async (clinic, engine) => {
      const [row] = await windowRows(clinic);
      // As after the minutes that free its lease, with Temporal's own retry out of the way.
      await engine.client.workflow.getHandle(row!.workflow_id, row!.run_id).terminate('test');
      await clinic.rows(`update lease set expires_at = clock_timestamp()`);
      const before = await mirrored(clinic, kind);
      const next = await runWindow(clinic.app, engine, 4711, { trigger: 'next', signal: never });
      expect(next).toMatchObject({ outcome: 'closed' });
      const rest = (await mirrored(clinic, kind)) - before;
      const { seen, pulled } = next;
      expect(kind === 'invoice' ? pulled.invoices : pulled.rows).toBe(rest);
      expect(kind === 'invoice' ? seen.invoices : seen.rows).toBeLessThanOrEqual(rest + onePage);
      expect((await clinic.reconcile()).ok).toBe(true);
      expect(await postedTwice(clinic)).toEqual([]);
    }),
);
