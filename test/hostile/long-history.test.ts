import { afterEach, expect, inject, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { noteIgnored } from '../../src/sync/capabilities/filters.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { urlOfDatabase } from '../support/server.ts';
import { addHistory, costOf } from '../support/window-cost.ts';

let clinic: TestClinic | null = null;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

/**
 * The maximum number of blocks at any length of the history: about twice the measured number with 2,000 and with
 * 200,000 invoices. If a server does not report changed rows, each window reads the rows of recent invoices again.
 */
const mostBuffers = {
  tellsChangedRows: { idle: 1_800, changes: 10_000 },
  tellsNone: { idle: 5_500, changes: 13_000 },
};

test.each([
  { history: 'in a small clinic that was loaded just now', invoices: 2_000, statistics: false },
  { history: 'after a hundred thousand records', invoices: 20_000, statistics: true },
])('a window costs what has changed, $history', { timeout: 300_000 }, async ({ invoices, statistics }) => {
  clinic = await startTestClinic({ seed: 5, invoices: 60 });
  const { sandbox, app, env } = clinic;
  const sync = async () => {
    const report = await (clinic as TestClinic).sync();
    expect(report.error ?? null).toBeNull();
  };
  await sync();
  await sync();
  const name = new URL(env.DATABASE_URL ?? '').pathname.slice(1);
  const watching = openDatabase(urlOfDatabase(inject('databaseUrl'), name), { max: 1 });
  try {
    await watching.transaction((trx) => addHistory(trx, sandbox.installation, invoices));
    if (statistics) await execute(watching, 'analyze');
    for (const tells of ['tellsChangedRows', 'tellsNone'] as const) {
      if (tells === 'tellsNone') await noteIgnored(app.db, sandbox.installation, 'row', 'modified__gte');
      const idle = await costOf(watching, sync);
      sandbox.live(20);
      const changes = await costOf(watching, sync);
      expect(idle.scanned).toEqual([]);
      expect(idle.buffers).toBeLessThan(mostBuffers[tells].idle);
      expect(changes.scanned).toEqual([]);
      expect(changes.buffers).toBeLessThan(mostBuffers[tells].changes);
    }
  } finally {
    await watching.destroy();
  }
});

test('PostgreSQL has statistics of what a first load filled when the load ends', { timeout: 300_000 }, async () => {
  clinic = await startTestClinic({ seed: 5, invoices: 400 });
  await clinic.sync();
  const unknown = await rows(
    clinic.app.db,
    { relname: text },
    `select relname::text from pg_class
     where relname in ('mirror_record', 'document', 'entry', 'entry_line') and relkind = 'r' and reltuples < 0`,
  );
  expect(unknown).toEqual([]);
});
