import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { SimulatedDatabase } from './database.ts';
import { liveDelivery } from './delivery/life.ts';
import { deliveryTraitsOf, erpsOf } from './delivery/traits.ts';
import { prepareDatabase } from './world.ts';

/** A few of the lives of `npm run simulate -- --trait delivery` and `--trait odoo`. */
const seeds = [2, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 18];
/** A life in which a limit per day keeps the operator from adopting for a day. */
const limitedAdoption = { seed: 471, erp: 'netvisor' };
const odooSeeds = [2, 4, 5, 6];

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => prepareDatabase({ owner }));
afterAll(() => simulated.close());

test.each([...seeds.map((seed) => ({ seed, erp: null })), limitedAdoption])(
  'every entry is in the ERP once and as it was sent, or refused for a reason: seed $seed',
  async ({ seed, erp }) => {
    const traits = deliveryTraitsOf(seed, 'delivery', erp);
    const { wrong, counts } = await liveDelivery({ owner, simulated }, seed, seed, traits);
    expect(wrong).toEqual([]);
    expect(counts.delivered).toBeGreaterThan(0);
  },
);

test.each(odooSeeds)('the same in each version of Odoo: seed %i', async (seed) => {
  const erp = erpsOf.odoo[seed % erpsOf.odoo.length] as string;
  const traits = { ...deliveryTraitsOf(seed, 'odoo'), erp };
  const { wrong, counts } = await liveDelivery({ owner, simulated }, seed, 100 + seed, traits);
  expect(wrong).toEqual([]);
  expect(counts.delivered).toBeGreaterThan(0);
});

test.each(erpsOf.cloud.map((erp, n) => [erp, n + 1] as const))('the same in the %s', async (erp, seed) => {
  const traits = deliveryTraitsOf(seed, 'cloud', erp);
  const { wrong, counts } = await liveDelivery({ owner, simulated }, seed, 200 + seed, traits);
  expect(wrong).toEqual([]);
  expect(counts.delivered).toBeGreaterThan(0);
});
