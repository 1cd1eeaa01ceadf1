import { afterEach, expect, test } from 'vitest';
import type { Quirks } from '../../src/sandbox/index.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic | null = null;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

async function startLoaded(quirks: Partial<Quirks> = {}): Promise<TestClinic> {
  clinic = await startTestClinic({ seed: 21, invoices: 60, overlapSeconds: 1, quirks });
  return clinic;
}

/** Posted invoices that nothing else refers to. */
async function looseInvoices(of: TestClinic): Promise<number[]> {
  const rows = await of.rows<{ id: number }>(
    `select d.id from document d where d.kind = 'invoice' and d.state = 'posted'
       and not exists (select from mirror_record p where p.kind = 'payment' and p.parent_id = d.id) order by d.id`,
  );
  return rows.map(({ id }) => id);
}

function vanish(of: TestClinic, id: number): void {
  const { invoices, invoiceRows } = of.sandbox.clinic;
  for (const row of [...invoiceRows.all()]) if (row.invoice === id) invoiceRows.delete(row.id);
  invoices.delete(id);
}

const states = (of: TestClinic, ids: number[]) =>
  of.rows<{ id: number; state: string }>(
    `select id, state from document where kind = 'invoice' and id = any(?) order by id`,
    [ids],
  );

test('an invoice that vanished is found where reconcile counted a difference, though it counts every day', async () => {
  const { sync, reconcile } = await startLoaded();
  await sync();
  expect((await reconcile()).ok).toBe(true);
  const [gone] = await looseInvoices(clinic!);
  vanish(clinic!, gone!);
  expect((await reconcile()).installations[0]!.equations.E6.ok).toBe(false);
  // The first window walks the list and looks the invoice up again, the second reverses it.
  await sync();
  await sync();
  expect(await states(clinic!, [gone!])).toEqual([{ id: gone, state: 'reversed' }]);
  const report = await reconcile();
  expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
});

test('several vanished invoices are looked up again together where no id filter is honoured', async () => {
  const { sync, reconcile } = await startLoaded({ ignoredFilters: ['id__gt', 'id__lt'] });
  await sync();
  const gone = (await looseInvoices(clinic!)).slice(0, 4);
  expect(gone).toHaveLength(4);
  for (const id of gone) vanish(clinic!, id);
  await reconcile();
  const window = await sync();
  // The list is short: one walk of it for the difference, one for the second look-up, and the counts.
  expect(window.api.requests).toBeLessThan(26);
  await sync();
  expect((await states(clinic!, gone)).map(({ state }) => state)).toEqual(gone.map(() => 'reversed'));
});
