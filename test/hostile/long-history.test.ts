import { afterEach, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { noteIgnored } from '../../src/sync/capabilities/filters.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { urlOfDatabase } from '../support/server.ts';
import { addHistory, costOf } from '../support/window-cost.ts';

let clinic: TestClinic | null = null;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

/** What windows look at in a clinic of 60 invoices, with much to spare; the history has 100,000 blocks. */
const mostBuffers = { idle: 5_000, changes: 15_000 };

test('a window costs no more after a million records', { timeout: 240_000 }, async () => {
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
    await watching.transaction((trx) => addHistory(trx, sandbox.installation, 200_000));
    await execute(watching, 'analyze');
    for (const tellsChangedRows of [true, false]) {
      if (!tellsChangedRows) await noteIgnored(app.db, sandbox.installation, 'row', 'modified__gte');
      const idle = await costOf(watching, sync);
      sandbox.live(20);
      const changes = await costOf(watching, sync);
      expect(idle.scanned).toEqual([]);
      expect(idle.buffers).toBeLessThan(mostBuffers.idle);
      expect(changes.scanned).toEqual([]);
      expect(changes.buffers).toBeLessThan(mostBuffers.changes);
    }
  } finally {
    await watching.destroy();
  }
});
