// (g) The cost of a window in PostgreSQL after a short and after a long history. It counts blocks, which do not depend
// on the machine.
import { openDatabase } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { addHistory, costOf } from '../../test/support/window-cost.ts';
import { writeSection } from '../measure.ts';
import { vetledger } from '../parts/engines.ts';
import { count, table } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

/** The number of invoices in the source; the rest of the history is created in SQL. */
const liveInvoices = 100;
const changesPerWindow = 20;

export async function windowCost(services: Services, quick: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const invoices of quick ? [200, 2_000] : [2_000, 200_000]) {
    const source = await startSource({ invoices: liveInvoices, rateWindowSeconds: 1, latencyMs: 0 });
    const engine = await vetledger({ source, services, overlapSeconds: 1 });
    const db = openDatabase(engine.ownerUrl, { max: 1 });
    try {
      await engine.run();
      await engine.run();
      await db.transaction((trx) => addHistory(trx, source.installation, invoices - liveInvoices));
      await execute(db, 'analyze');
      const idle = await costOf(db, () => engine.run());
      await source.ask('live', changesPerWindow);
      const changes = await costOf(db, () => engine.run());
      const scanned = [...new Set([...idle.scanned, ...changes.scanned])];
      rows.push([count(invoices), count(idle.buffers), count(changes.buffers), scanned.join(', ') || 'none']);
      console.error(rows.at(-1)?.join(', '));
    } finally {
      await db.destroy();
      await engine.dispose();
      source.stop();
    }
  }
  writeSection(
    '(g) Windows after a long history',
    [
      ...services.heading,
      '',
      'Blocks of PostgreSQL (8 KB) that one window looked at, in the tables that grow with the clinic and their indexes: an idle window, and one',
      `after ${changesPerWindow} events. Each invoice has 3 rows, 0.8 payments and 0.2 prepayments, everything posted, summed up and written back.`,
      '',
      table(['invoices', 'idle window', `window of ${changesPerWindow} events`, 'tables read without an index'], rows),
    ].join('\n'),
  );
}
