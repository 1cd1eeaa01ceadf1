import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
beforeAll(async () => {
  // The server's times are UTC without an offset, and the installation is in Helsinki.
  clinic = await startTestClinic({ seed: 5, invoices: 30, timezone: 'UTC', quirks: { timestamps: 'naive' } });
});
afterAll(() => clinic?.stop());

test('a server whose times without offset are UTC: what is new and what changes comes with the next window', {
  timeout: 60_000,
}, async () => {
  expect((await clinic.sync()).outcome).toBe('closed');
  const source = clinic.sandbox.clinic;
  const changed = source.invoices.all()[3]!;
  source.updateInvoice(changed.id, { payer_name: 'Changed Since' });
  const added = source.createInvoice({
    client: source.clients.all()[0]!.id,
    rows: [{ sum: '80.00', vat_percentage: '25.50', account_number: '3000' }],
  });
  expect((await clinic.sync()).outcome).toBe('closed');
  const held = await clinic.rows<{ id: number; name: string }>(
    `select id, raw->>'payer_name' as name from mirror_record where kind = 'invoice' and id = any(?)`,
    [[changed.id, added.id]],
  );
  expect(held.map(({ id }) => id).sort((a, b) => a - b)).toEqual([changed.id, added.id].sort((a, b) => a - b));
  expect(held.find(({ id }) => id === changed.id)?.name).toBe('Changed Since');
});
