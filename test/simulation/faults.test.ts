import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimulatedDatabase } from '../erp/rounds/database.ts';
import { useDatabase } from '../support/database.ts';
import { live, prepareDatabase } from './faults/life.ts';

/** A few of the lives of `npm run simulate -- --faults`: short ones, with and without an ERP. */
const seeds = [5, 6, 7, 8, 12, 13];
const longestLifeMs = 120_000;

describe('nothing is lost, doubled or different, whatever goes wrong between two calls', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url, { asksForTime: /./ });
  beforeAll(() => prepareDatabase({ owner }));
  afterAll(() => simulated.close());

  test.each(seeds)(
    'seed %i',
    async (seed) => {
      const report = await live({ owner, simulated }, seed, seed);
      expect(report.wrong).toEqual([]);
      expect(report.entries).toBeGreaterThan(0);
    },
    longestLifeMs,
  );
});
