import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/pool.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { activitiesEnded, waitFor, windowRows } from '../workflows/support.ts';

const never = new AbortController().signal;

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

/** Tables that only lanes write. */
const laneTables = [
  'mirror_record',
  'mirror_version',
  'document',
  'document_report',
  'sync_walk',
  'sync_cursor',
  'source_count',
  'source_filter',
  'source_capability',
  'department_lock',
  'installation_state',
  'entry',
  'entry_line',
  'summary_entry',
  'summary_line',
  'summary_member',
  'write_back',
];
const writes = new RegExp(`\\b(insert into|update|delete from) (${laneTables.join('|')})\\b`);

describe.concurrent('a window that was given up', { timeout: 300_000 }, () => {
  test('notes its end after its last entry, although PostgreSQL stood still when its time was over', () =>
    withClinic({ seed: 31, invoices: 60 }, async (clinic) => {
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      clinic.sandbox.live(20);
      const owner = openDatabase(clinic.ownerUrl, { max: 1 });
      const barrier = await owner.transaction();
      await barrier.raw('lock table entry in share mode');
      const app = { ...clinic.app, config: { ...clinic.app.config, windowTimeoutMinutes: 6 / 60 } };
      const window = runWindowNow(app, clinic.engine, 4711, { trigger: 'sync', signal: never });
      await waitFor('posting that waits', async () => {
        const waiting = await clinic.rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      const failed = async () => (await windowRows(clinic)).some(({ outcome }) => outcome === 'failed');
      // By now, a window that does not wait for its transaction has failed. A window that waits is still open.
      await waitFor('failed window', failed, 16_000).catch(() => undefined);
      await barrier.commit();
      await owner.destroy();
      expect(await window).toMatchObject({ outcome: 'failed', error: { code: 'window_given_up' } });
      await activitiesEnded(clinic);
      await waitFor('end of transactions', async () => {
        const open = await clinic.rows(
          `select from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
        );
        return open.length === 0;
      });
      const late = await clinic.rows(
        `select e.id, e.created_at, w.closed_at from entry e join sync_window w on w.id = e.window_id
         where e.created_at > w.closed_at`,
      );
      expect(late).toEqual([]);

      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      expect(await clinic.wrongBooks()).toEqual([]);
    }));

  test('writes nothing: every write of a window and of a backfill stands in a transaction that holds its lease', () =>
    withClinic({ seed: 32, invoices: 60, settings: { posting_mode: 'daily_summary' } }, async (clinic) => {
      const heldBy = new Map<string, string>();
      const unheld: string[] = [];
      clinic.app.db.on('query', ({ sql, __knexTxId }: { sql: string; __knexTxId?: string }) => {
        const transaction = __knexTxId ?? '';
        if (/\bfrom lease\b[\s\S]*for (key share|update)/.test(sql) && transaction) heldBy.set(transaction, sql);
        if (writes.test(sql) && !heldBy.has(transaction)) unheld.push(sql);
      });
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      clinic.sandbox.live(20);
      expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
      const backfill = await runWindowNow(clinic.app, clinic.engine, 4711, { trigger: 'backfill', signal: never });
      expect(backfill).toMatchObject({ outcome: 'closed' });
      expect(heldBy.size).toBeGreaterThan(20);
      expect([...new Set(unheld)]).toEqual([]);
    }));
});
