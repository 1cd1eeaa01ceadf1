// A real daemon reconciles a sandbox clinic automatically, after all other requests, and names the differences.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { priorities } from '../../src/practice/budget.ts';
import type { App } from '../../src/runtime/app.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { waitFor } from './support.ts';

let clinic: TestClinic;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 43, invoices: 60 });
  await clinic.sync();
});

afterAll(async () => {
  await clinic.engine.client.schedule
    .getHandle(`sync-window/4711-${clinic.app.databaseId}`)
    .delete()
    .catch(() => undefined);
  await clinic.stop();
});

/** Runs `work` with a daemon that continuously looks for turns. */
async function withDaemon(work: () => Promise<void>, changes: Partial<App> = {}): Promise<void> {
  const stop = new AbortController();
  const app = { ...clinic.app, ...changes };
  const daemon = runDaemon(app, { signal: stop.signal, reconcileEveryMs: 20 });
  try {
    await Promise.race([work(), daemon]);
  } finally {
    stop.abort();
    await daemon;
  }
}

const verdict = async () =>
  (await clinic.rows<{ ok: boolean; failing: string[] }>('select ok, failing from reconcile_verdict'))[0];
const turn = async () => (await clinic.rows<{ is_done: boolean }>('select is_done from reconcile_turn'))[0];
const turnDone = () => waitFor('end of the turn', async () => (await turn())?.is_done).then(() => undefined);
/** Moves the last turn to another day. */
const nextDay = () => clinic.rows('update reconcile_turn set day = day - 1, is_done = false');

test('the books are reconciled automatically, by requests of the lowest priority', async () => {
  const asked: unknown[] = [];
  const practice = (installation: number) => {
    const client = clinic.app.practice(installation);
    const forWindow: typeof client.forWindow = (changes) => {
      const own = client.forWindow(changes);
      const list: typeof own.list = (kind, filters, pageSize, options) => {
        asked.push(options?.priority);
        return own.list(kind, filters, pageSize, options);
      };
      return { ...own, list };
    };
    return { ...client, forWindow };
  };
  await withDaemon(turnDone, { practice });
  expect(await verdict()).toEqual({ ok: true, failing: [] });
  expect(asked).toContain(priorities.scrub);
});

test('a chain that is not as it was written is a difference with a name, until it is whole again', async () => {
  await nextDay();
  const [line] = await clinic.rows<{ entry: string; account: string }>(
    'select entry_id as entry, account from entry_line order by entry_id limit 1',
  );
  const { entry, account } = line!;
  const change = (from: string, to: string) =>
    clinic.asOwner(
      `begin; set local session_replication_role = replica;
       update entry_line set account = '${to}' where entry_id = '${entry}' and account = '${from}'; commit`,
    );
  await change(account, '9999');
  const told = vi.spyOn(clinic.app.log, 'error');
  await withDaemon(turnDone);
  expect(await verdict()).toMatchObject({ ok: false, failing: expect.arrayContaining(['chain']) });
  expect(told.mock.calls.find(([, line]) => String(line).startsWith('NOT reconciled'))?.[0]).toMatchObject({
    failing: expect.arrayContaining(['chain']),
    broken: { entryId: entry },
  });
  told.mockRestore();
  await change('9999', account);
  // A verdict on the equations alone does not cover the chain.
  await clinic.reconcile();
  expect(await verdict()).toEqual({ ok: false, failing: ['chain'] });
  await nextDay();
  await withDaemon(turnDone);
  expect(await verdict()).toEqual({ ok: true, failing: [] });
});
