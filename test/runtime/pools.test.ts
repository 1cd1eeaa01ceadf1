// Transactions of hundreds of installations may wait for connections, but the statements that let them continue must
// not wait behind them.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { poolSizes, poolState } from '../../src/db/pool.ts';
import { priorities } from '../../src/practice/budget.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { openRow, windowRows } from '../workflows/support.ts';

test.each([
  // Columns: installations, connections for work, connections for short statements.
  [1, 10, 2],
  [5, 18, 2],
  [25, 56, 4],
  [80, 50, 10],
  [300, 50, 10],
  [1_000, 50, 10],
])('%i installations', (installations, work, prompt) => {
  expect(poolSizes(installations)).toEqual({ work, prompt });
});

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 77, invoices: 10 });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});
afterAll(() => clinic.stop());

/** Keeps every connection of the pool in a transaction while `work` runs. */
async function withoutConnections(work: () => Promise<void>): Promise<void> {
  const { db } = clinic.app;
  const taken = await Promise.all(Array.from({ length: poolState(db).limit }, () => db.transaction()));
  try {
    await work();
    expect(poolState(db).free).toBe(0);
  } finally {
    await Promise.all(taken.map((trx) => trx.rollback()));
  }
}

test('the rate budget grants while transactions have every connection of the pool', async () => {
  await withoutConnections(async () => {
    const asked = performance.now();
    const slot = await clinic.app.budget(4711).take('invoice.list', 1, priorities.live);
    // A grant that arrives after a second would be returned.
    expect(performance.now() - asked).toBeLessThan(1_000);
    slot.finish('notSent');
  });
});

test('a window keeps its lease while transactions have every connection of the pool', async () => {
  clinic.sandbox.setFaults({ timeoutMs: { ms: 45_000, action: 'invoicepayment.list' } });
  const window = clinic.sync();
  await openRow(clinic);
  const [before] = await clinic.rows<{ expires_at: Date }>(`select expires_at from lease where lane = 'live'`);
  await withoutConnections(async () => {
    const leaseOf = async () => {
      const { rows } = await clinic.app.promptDb.raw<{ rows: { expires_at: Date }[] }>(
        `select expires_at from lease where lane = 'live'`,
      );
      return rows[0]!.expires_at;
    };
    const deadline = performance.now() + 25_000;
    while ((await leaseOf()) <= before!.expires_at && performance.now() < deadline) await sleep(250);
    expect((await leaseOf()).getTime()).toBeGreaterThan(before!.expires_at.getTime());
  });
  clinic.sandbox.setFaults({ timeoutMs: null });
  expect(await window).toMatchObject({ outcome: 'closed' });
  expect((await windowRows(clinic)).every(({ outcome }) => outcome === 'closed')).toBe(true);
});
