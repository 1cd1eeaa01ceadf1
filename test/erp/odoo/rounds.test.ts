import { afterAll, beforeAll, expect, test } from 'vitest';
import { SimulatedDatabase } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { playRound, prepareDatabase } from '../rounds/round.ts';
import { odooFlavours } from './rounds/erp.ts';

/** A few of the rounds of `npm run chaos -- --erp odoo`. */
const seeds = [2, 4, 5, 6];

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => prepareDatabase({ owner }));
afterAll(() => simulated.close());

test.each(seeds)('every entry is in Odoo once and as it was sent, or refused for a reason: seed %i', async (seed) => {
  const record = odooFlavours[seed % odooFlavours.length] as string;
  const report = await playRound({ owner, simulated }, seed, seed, { kind: 'odoo', record });
  expect(report.wrong).toEqual([]);
  expect(report.delivered).toBeGreaterThan(0);
});
