import { afterAll, beforeAll, expect, test } from 'vitest';
import { sourceCounts } from '../../src/commands/source-counts.ts';
import { noteListedTwice, wantCensus } from '../../src/sync/counts.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 9, invoices: 40, overlapSeconds: 1 });
});
afterAll(() => clinic?.stop());

test('a new record that no question has named is found by the census, and posted', { timeout: 60_000 }, async () => {
  const source = clinic.sandbox.clinic;
  const clock = source.clock;
  expect((await clinic.sync()).outcome).toBe('closed');
  // Its `modified` lies before everything that a window still asks for.
  source.clock = () => clock() - 3 * 86_400_000;
  const { id } = source.createInvoice({
    client: source.clients.all()[0]!.id,
    rows: [{ sum: '80.00', vat_percentage: '25.50', account_number: '3000' }],
  });
  source.clock = clock;
  const states = () =>
    clinic.rows<{ state: string }>(`select state from document where kind = 'invoice' and id = ?`, [id]);
  await clinic.sync();
  await wantCensus(clinic.app.db, clinic.sandbox.installation);
  await clinic.sync();
  expect(await states()).toHaveLength(1);
  await clinic.sync();
  expect(await states()).toEqual([{ state: 'posted' }]);
});

test('a list that holds records twice is not compared by its count, which would differ every time', async () => {
  const { installation } = clinic.sandbox;
  await noteListedTwice(clinic.app.db, installation, 'payment');
  const notes: string[] = [];
  const counts = await sourceCounts(clinic.app, installation, (line) => notes.push(line));
  expect(counts).toEqual({
    invoice: { count: clinic.sandbox.clinic.invoices.size },
    payment: null,
    prepayment: { count: clinic.sandbox.clinic.prepayments.size },
  });
  expect(notes).toEqual([expect.stringContaining('lists some payments twice')]);
});
