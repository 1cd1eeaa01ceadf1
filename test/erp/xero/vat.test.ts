// The VAT that Xero computes is ours, to the cent: a cheap sample of vat-share.test.ts.

import { expect, test } from 'vitest';
import { deliverRandomInvoices } from './random-delivery.ts';

test('120 random invoices are posted, with our VAT by tax type', async () => {
  const { theirs, ours, held, posted } = await deliverRandomInvoices(120, 7);
  expect(theirs).toEqual(ours);
  expect(held).toBeLessThanOrEqual(1);
  expect(posted).toBeGreaterThan(110);
});
