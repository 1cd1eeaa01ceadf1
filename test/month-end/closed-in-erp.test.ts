import { expect, inject, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { closedInErp } from './closed-in-erp.ts';

test('a month that the ERP closed before all of it was sent: the VAT reports are the ERP’s returns', async () => {
  const database = await createTestDatabase();
  try {
    const services = { databaseUrl: database.ownerUrl, temporalAddress: inject('temporalAddress') };
    expect(await closedInErp(services)).toEqual([]);
  } finally {
    await database.drop();
  }
});
