// The month in the other variants. `month-end.test.ts` plays the one that docs/accountants/month-end.md shows.
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { playMonthEnd } from './play.ts';
import { first, nameOf, variants } from './variant.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const others = variants.filter((variant) => variant !== first).map((variant) => [nameOf(variant), variant] as const);

test.each(others)('%s: every figure equals the expected journal', async (_, variant) => {
  const services = { databaseUrl: database.ownerUrl, temporalAddress: inject('temporalAddress') };
  const played = await playMonthEnd(services, () => undefined, variant);
  try {
    await played.goOn();
    expect(played.differences).toEqual([]);
  } finally {
    await played.stop();
  }
});
