import { afterEach, expect, test } from 'vitest';
import type { Quirks } from '../../sandbox/src/index.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { confirmAllGone } from '../support/hiding.ts';

let clinic: TestClinic | null = null;
/** The difference of the source's clock from ours. It runs, and the test can advance it. */
let aheadMs = 0;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

async function startLoaded(quirks: Partial<Quirks> = {}): Promise<TestClinic> {
  aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  clinic = await startTestClinic({ seed: 21, invoices: 60, overlapSeconds: 1, quirks, now });
  return clinic;
}

/** Posted invoices that no other record refers to. */
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
  aheadMs += 2_100;
  // The first window walks the list and looks up the invoice. The accountant confirms that it is gone, and the second
  // window reverses it.
  await sync();
  expect(await states(clinic!, [gone!])).toEqual([{ id: gone, state: 'posted' }]);
  await confirmAllGone(clinic!.app.db, clinic!.sandbox.installation, 1);
  await sync();
  expect(await states(clinic!, [gone!])).toEqual([{ id: gone, state: 'reversed' }]);
  expect(await clinic!.wrongBooks()).toEqual([]);
  const report = await reconcile();
  expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
});

test('several vanished invoices are looked up again together where no id filter is honoured', async () => {
  const { sync, reconcile } = await startLoaded({ ignoredFilters: ['id__gt', 'id__lt'] });
  await sync();
  const gone = (await looseInvoices(clinic!)).slice(0, 2);
  expect(gone).toHaveLength(2);
  for (const id of gone) vanish(clinic!, id);
  await reconcile();
  // Within the second of the load, an answer cannot be newer than the load's, so the clock advances.
  aheadMs += 2_100;
  const window = await sync();
  // The list is short: one walk for the difference, one for the second look-up, and the counts.
  expect(window.api.requests).toBeLessThan(26);
  await confirmAllGone(clinic!.app.db, clinic!.sandbox.installation, 2);
  await sync();
  expect((await states(clinic!, gone)).map(({ state }) => state)).toEqual(gone.map(() => 'reversed'));
  expect(await clinic!.wrongBooks()).toEqual([]);
});

test('rows that came late post their invoice, though nothing in the source shows them', async () => {
  const { sandbox, sync } = await startLoaded({ ignoredFilters: ['modified__gte', 'id__gt', 'id__lt'] });
  const { invoices, invoiceRows } = sandbox.clinic;
  const late = [...invoices.all()].find(({ id, status }) => status === 3 && invoiceRows.of(id).length > 1)!;
  const rows = [...invoiceRows.of(late.id)];
  for (const row of rows) invoiceRows.delete(row.id);
  await sync();
  await sync();
  expect(await states(clinic!, [late.id])).toEqual([{ id: late.id, state: 'held' }]);
  const idle = await sync();
  const highest = Math.max(...invoiceRows.all().map(({ id }) => id));
  for (const [i, row] of rows.entries()) invoiceRows.add({ ...row, id: highest + 1 + i });
  await sync();
  expect(await states(clinic!, [late.id])).toEqual([{ id: late.id, state: 'posted' }]);
  // While records are missing, a window sends one more request, but does not fetch the invoice and its payments again.
  expect(idle.seen.rows).toBe(0);
  expect(idle.api.requests).toBeLessThan(12);
});

test('a write-back leaves what staff put beside our id since the prepayment was pulled', async () => {
  const { sandbox, rows, sync } = await startLoaded();
  for (const record of sandbox.clinic.prepayments.all()) record.external_info = { external_id: null, till: 'K1' };
  const before = new Map(sandbox.clinic.prepayments.all().map(({ id, modified }) => [id, modified]));
  await sync();
  const posted = await rows<{ id: number; entry_id: string }>(
    `select id, entry_id from document where kind = 'prepayment' and state = 'posted' order by id limit 3`,
  );
  // The mirror does not show our write, and staff made a change without a new `modified`.
  const ids = posted.map(({ id }) => id);
  const records = ids.map((id) => sandbox.clinic.prepayments.get(id)!);
  for (const record of records) {
    record.external_info = { external_id: null, till: 'K9' };
    record.modified = before.get(record.id)!;
  }
  await rows(`update write_back set state = 'failed', read_back = null where document_id = any(?)`, [ids]);
  await rows(
    `update mirror_record set raw = regexp_replace(raw::text, '"external_id":"[^"]*"', '"external_id":null')::json
     where kind = 'prepayment' and id = any(?)`,
    [ids],
  );
  // Answers have whole seconds, so a record with an unchanged `modified` is not newer within the same second.
  aheadMs += 1_500;
  const window = await sync();
  expect(window.written_back).toBe(3);
  expect(records.map(({ external_info }) => external_info)).toEqual(
    posted.map(({ entry_id }) => ({ external_id: entry_id, till: 'K9' })),
  );
});
