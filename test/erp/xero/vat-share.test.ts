// The VAT report of Xero over 20,000 random invoices. The entries that cannot be delivered are counted.

import { expect, test } from 'vitest';
import { deliverRandomInvoices } from './random-delivery.ts';

test('of 20,000 random invoices, the VAT by tax type is ours, and at most 0.5 % are held', async () => {
  const { theirs, ours, held, posted } = await deliverRandomInvoices(20_000, 30);
  expect(theirs).toEqual(ours);
  expect(posted).toBeGreaterThan(19_000);
  expect(held / (held + posted)).toBeLessThanOrEqual(0.005);
});
