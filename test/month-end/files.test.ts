// The binder, DATEV with tax keys, SIE, hledger and beancount have the same balances, in each variant of the month.
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { filesOfMonth, type Program, programs } from './files.ts';
import { nameOf, variants } from './variant.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const cases = variants.flatMap((variant) =>
  (Object.keys(programs) as Program[]).map((program) => [nameOf(variant), program, variant] as const),
);

test.each(cases)(
  '%s: %s, the binder and the journals have the balances of the expected journal',
  async (_, program, variant) => {
    const services = { databaseUrl: database.ownerUrl, temporalAddress: inject('temporalAddress') };
    expect(await filesOfMonth(services, program, variant)).toEqual([]);
  },
);
