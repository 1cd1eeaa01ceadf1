import { afterEach, expect, test } from 'vitest';
import { statusText } from '../../src/cli/commands/status-text.ts';
import { noteText } from '../../src/cli/render/reconcile-notes.ts';
import { instant } from '../../src/cli/render/text.ts';
import { reconcileWithSource } from '../../src/queries/reconcile.ts';
import { installationStatuses } from '../../src/queries/status.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

const hour = 3_600_000;
const row = { sum: '50.00', vat_percentage: '14', account_number: '3000' };

let clinic: TestClinic | undefined;
/** The difference of the practice's clock from ours. It writes `modified` and `Date`. */
let aheadMs = 0;
afterEach(async () => {
  await clinic?.stop();
  clinic = undefined;
});

async function start(seed: number): Promise<TestClinic> {
  aheadMs = 0;
  clinic = await startTestClinic({ seed, invoices: 40, overlapSeconds: 1, now: () => new Date(Date.now() + aheadMs) });
  await clinic.sync();
  return clinic;
}

const isPosted = async (one: TestClinic, id: number) =>
  (await one.rows<{ state: string }>(`select state from document where kind = 'invoice' and id = ?`, [id]))[0]
    ?.state === 'posted';

/** Runs windows until the invoice is posted, because its rows may be fresh only in the second window. */
async function postedWithin(one: TestClinic, id: number, windows: number): Promise<boolean> {
  for (let n = 0; n < windows; n++) {
    const report = await one.sync();
    expect(report.outcome).toBe('closed');
    expect(Date.parse(report.to ?? '')).toBeGreaterThanOrEqual(Date.parse(report.from ?? report.to ?? ''));
    if (await isPosted(one, id)) return true;
  }
  return false;
}

test.each([
  ['ran two hours ahead for one window', [2 * hour, 0]],
  ['was two hours behind for one window', [-2 * hour, 0]],
  ['went back by two hours', [0, -2 * hour]],
])('an invoice finalised while the practice’s clock %s is posted', async (_case, [during, after]) => {
  const one = await start(41);
  aheadMs = during ?? 0;
  const report = await one.sync();
  if (aheadMs !== 0) expect(report.remarks?.map(({ code }) => code)).toContain('clock_skew');
  aheadMs = after ?? 0;
  const { id } = one.sandbox.clinic.createInvoice({ rows: [row, row] });
  expect(await postedWithin(one, id, 3)).toBe(true);
  expect(await one.wrongBooks()).toEqual([]);
});

test('invoices are posted in the next window although the practice’s clock is steadily five hours ahead', async () => {
  const one = await start(42);
  aheadMs = 5 * hour;
  await one.sync();
  for (let n = 0; n < 2; n++) {
    const { id } = one.sandbox.clinic.createInvoice({ rows: [row] });
    expect(await postedWithin(one, id, 2)).toBe(true);
  }
});

test('reconcile and status say that the practice’s clock was put back', async () => {
  const one = await start(43);
  aheadMs = -2 * hour;
  expect((await one.sync()).remarks?.map(({ code }) => code)).toEqual(['clock_skew', 'clock_put_back']);
  const { db, config } = one.app;
  const [status] = await installationStatuses(
    { db, now: new Date(), schedule: { everySeconds: 300 }, taskQueue: config.temporal.taskQueue, seals: false },
    config.installations,
  );
  expect(statusText(status!)).toContain("The source's clock is 2 h behind the database's.");
  const notes: string[] = [];
  const reconciled = () =>
    reconcileWithSource(
      one.app,
      one.app.config.installations,
      (id, note) => void notes.push(noteText(id, note, (_, time) => instant(time))),
    );
  await reconciled();
  expect(notes.join('\n')).toContain('the source’s clock was put back');
});
