import { describe, expect, test } from 'vitest';
import type { PlainError } from '../../src/texts/plain-error.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import {
  activitiesEnded,
  detailsOf,
  healths,
  listRequests,
  mirrored,
  openRow,
  postedTwice,
  summaries,
  waitFor,
  windowRows,
} from './support.ts';

const never = new AbortController().signal;
/** A clinic whose invoices take half a minute to load in one activity. */
const slow = {
  invoices: 250,
  quirks: { maxPageSize: 20, defaultPageSize: 20 },
  faults: { timeoutMs: { ms: 2_200, action: 'invoice.list' } },
};
const seconds = (from: Date, to: Date | null) => (to!.getTime() - from.getTime()) / 1000;

async function withClinic(
  options: Parameters<typeof startTestClinic>[0],
  work: (clinic: TestClinic) => Promise<void>,
): Promise<void> {
  const clinic = await startTestClinic(options);
  try {
    await work(clinic);
  } finally {
    await clinic.stop();
  }
}

async function expectWholeBooks(clinic: TestClinic): Promise<void> {
  expect(await clinic.wrongBooks()).toEqual([]);
  const report = await clinic.reconcile();
  expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
  expect(await postedTwice(clinic)).toEqual([]);
}

describe.concurrent('a window as the operator sees it', { timeout: 300_000 }, () => {
  test('an activity that fails and is tried again shows as retrying, then ok', () =>
    withClinic({ seed: 21, faults: { http500: { action: 'invoicepayment.list' } } }, async (clinic) => {
      const window = clinic.sync();
      const row = await openRow(clinic);
      const query = `WorkflowId = '${row.workflow_id}' and Installation = '4711' and SyncHealth = 'retrying'`;
      await waitFor('retrying window in the list', async () => {
        for await (const run of clinic.engine.client.workflow.list({ query })) return run;
        return null;
      });
      clinic.sandbox.setFaults({ http500: null });
      const { posted, held, written_back, api } = await window;
      const said = await detailsOf(clinic, row);
      expect(said).toContain('· sync · **closed** ·');
      const spent = `${api.requests} | ${api.weight} | ${Math.round(api.waited_seconds)} s |`;
      expect(said).toContain(`| ${posted} | ${held} | ${written_back} | ${spent}`);
      const lines = await summaries(clinic, row);
      expect(lines).toEqual(expect.arrayContaining(['pull changed invoices', 'judge and post documents']));
      expect(lines).not.toContain(null);
      const seen = await healths(clinic, row);
      expect(seen.filter((health, i) => health !== seen[i - 1])).toEqual(['ok', 'retrying', 'ok']);
      await expectWholeBooks(clinic);
    }));

  test('a first load shows what it has read, and for how long it goes on', () =>
    withClinic({ seed: 23, invoices: 120, quirks: { maxPageSize: 20, defaultPageSize: 20 } }, async (clinic) => {
      clinic.sandbox.setFaults({ timeoutMs: { ms: 400, action: 'invoicerow.list' } });
      const window = clinic.sync();
      const row = await openRow(clinic);
      const rows = [...clinic.sandbox.clinic.invoiceRows.all()].length;
      const said = await waitFor('an estimate', async () => {
        const details = await detailsOf(clinic, row);
        return /Left: about .*; .*\d+ of \d+ rows read/.exec(details)?.[0] ?? null;
      });
      expect(said).toContain(` of ${rows} rows read`);
      clinic.sandbox.setFaults({ timeoutMs: null });
      await window;
      expect(await detailsOf(clinic, row)).not.toContain('Left');
      await expectWholeBooks(clinic);
    }));

  test('a window that takes too long has failed within seconds of its time-out, and the next one covers it', () =>
    withClinic({ seed: 22, invoices: 60, quirks: { maxPageSize: 20, defaultPageSize: 20 } }, async (clinic) => {
      const app = { ...clinic.app, config: { ...clinic.app.config, windowTimeoutMinutes: 2 / 60 } };
      const windowNow = () => runWindowNow(app, clinic.engine, 4711, { trigger: 'sync', signal: never });
      // The first load takes longer, and is not given up.
      clinic.sandbox.setFaults({ timeoutMs: { ms: 900, action: 'invoice.list' } });
      expect(await windowNow()).toMatchObject({ outcome: 'closed', from: null });
      const [first] = await windowRows(clinic);
      expect(seconds(first!.opened_at, first!.closed_at)).toBeGreaterThan(2);

      clinic.sandbox.live(20);
      clinic.sandbox.setFaults({ timeoutMs: { ms: 15_000, action: 'invoicepayment.list' } });
      expect(await windowNow()).toMatchObject({ outcome: 'failed', error: { code: 'window_given_up' } });
      const row = (await windowRows(clinic)).at(-1);
      expect(seconds(row!.opened_at, row!.closed_at)).toBeLessThan(20);
      expect((await healths(clinic, row!)).at(-1)).toBe('failed');

      clinic.sandbox.setFaults({ timeoutMs: null });
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      await expectWholeBooks(clinic);
    }));

  test('a first load is given up where nothing of a step succeeds for as long as a window may last', () =>
    withClinic({ seed: 26, invoices: 20, faults: { http500: { action: 'invoicepayment.list' } } }, async (clinic) => {
      const app = { ...clinic.app, config: { ...clinic.app.config, windowTimeoutMinutes: 2 / 60 } };
      const given = await runWindowNow(app, clinic.engine, 4711, { trigger: 'sync', signal: never });
      expect(given).toMatchObject({ outcome: 'failed', from: null, error: { code: 'server_error' } });
      expect(given.error!.message).toContain('the window was given up after 2 s');
      clinic.sandbox.setFaults({ http500: null });
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      await expectWholeBooks(clinic);
    }));

  test('of two windows at once, the second opens when the first has ended', () =>
    withClinic({ seed: 23, faults: { timeoutMs: { ms: 300 } } }, async (clinic) => {
      const first = clinic.sync('first');
      await openRow(clinic);
      const second = clinic.sync('second');
      expect(await first).toMatchObject({ outcome: 'closed' });
      expect(await second).toMatchObject({ outcome: 'closed', posted: 0 });
      const [one, two] = await windowRows(clinic);
      expect(two!.trigger).toBe('second');
      expect(two!.opened_at.getTime()).toBeGreaterThanOrEqual(one!.closed_at!.getTime());
      await expectWholeBooks(clinic);
    }));

  test('a window that loses its lease stops, in the middle of an activity', () =>
    withClinic({ ...slow, seed: 24 }, async (clinic) => {
      const window = clinic.sync();
      await waitFor('first page', async () => (await mirrored(clinic)) > 0);
      await clinic.rows(
        `update lease set token = token + 1, holder = 'another', expires_at = clock_timestamp() + interval '1 hour'`,
      );
      expect(await window).toMatchObject({ outcome: 'failed', error: { code: 'window_superseded' } });
      const asked = listRequests(clinic);
      await activitiesEnded(clinic);
      expect(listRequests(clinic)).toEqual(asked);
      // The losing window does not release the other one's lease.
      const [lease] = await clinic.rows<{ holder: string; free: boolean }>(
        `select holder, expires_at < clock_timestamp() as free from lease`,
      );
      expect(lease).toEqual({ holder: 'another', free: false });
    }));

  test('when one list is refused, the window’s other activities stop with it, and the next window opens at once', () =>
    withClinic(
      {
        ...slow,
        seed: 25,
        faults: { ...slow.faults, unauthorizedOnce: { count: 9, action: 'unallocatedpayment.list' } },
      },
      async (clinic) => {
        expect(await clinic.sync()).toMatchObject({ outcome: 'failed', error: { code: 'unauthorized' } });
        const asked = listRequests(clinic);
        await activitiesEnded(clinic);
        expect(listRequests(clinic)).toEqual(asked);
        clinic.sandbox.setFaults({ timeoutMs: null, unauthorizedOnce: null });
        expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
        const [failed, next] = await windowRows(clinic);
        expect(seconds(failed!.closed_at!, next!.opened_at)).toBeLessThan(10);
        await expectWholeBooks(clinic);
      },
    ));

  test('a window that is stopped at the command line notes its end within the command’s patience', () =>
    withClinic({ ...slow, seed: 26 }, async (clinic) => {
      const stop = new AbortController();
      const window = runWindowNow(clinic.app, clinic.engine, 4711, { trigger: 'sync', signal: stop.signal });
      await openRow(clinic);
      await waitFor('second page', async () => (await mirrored(clinic, 'invoice')) > 20);
      stop.abort();
      expect(await window).toMatchObject({ outcome: 'failed', error: { code: 'window_cancelled' } });
      expect(await windowRows(clinic)).toMatchObject([{ outcome: 'failed' }]);
    }));

  test('a window terminated in Temporal is noted as failed by the next one, which covers it', () =>
    withClinic({ seed: 27, faults: { timeoutMs: { ms: 2_000 } } }, async (clinic) => {
      const window = clinic.sync();
      const row = await openRow(clinic);
      await clinic.engine.client.workflow.getHandle(row.workflow_id, row.run_id).terminate('by the operator');
      expect(await window).toMatchObject({ outcome: 'failed', error: { code: 'window_interrupted' } });
      clinic.sandbox.setFaults({ timeoutMs: null });
      // Expires the lease and changes its token, because an activity of the terminated window may still renew it.
      await clinic.rows(`update lease set expires_at = clock_timestamp(), token = token + 1`);
      // The next window starts from the cursors of the lists that the terminated window had read completely.
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      const [first, second] = await windowRows(clinic);
      expect(first).toMatchObject({ outcome: 'failed' });
      expect(JSON.parse(first!.error!) as PlainError).toMatchObject({ code: 'window_terminated' });
      expect(second).toMatchObject({ outcome: 'closed' });
      await expectWholeBooks(clinic);
    }));
});
