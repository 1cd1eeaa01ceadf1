// The VAT that Xero computes is ours, to the cent: a cheap sample of vat-share.test.ts.

import { expect, test } from 'vitest';
import { deliverRandomInvoices } from './random-delivery.ts';

test('300 random invoices are posted, with our VAT by tax type', async () => {
  const { theirs, ours, held, posted } = await deliverRandomInvoices(300, 7);
  expect(theirs).toEqual(ours);
  expect(held).toBeLessThanOrEqual(3);
  expect(posted).toBeGreaterThan(280);
});
