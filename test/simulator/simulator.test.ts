import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { SimulatedDatabase } from './database.ts';
import { liveInstallation } from './life.ts';
import { traitsOf } from './traits.ts';
import { prepareDatabase } from './world.ts';

/** A few short lives of `npm run simulate`: of each kind of source, with and without crashes and an ERP. */
const seeds = [4, 5, 6, 12];
const longestLifeMs = 120_000;

describe('books, mirror, ERP and write-backs are right at the end, whatever goes wrong', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => prepareDatabase({ owner }));
  afterAll(() => simulated.close());

  test.each(seeds)(
    'seed %i',
    async (seed) => {
      const { wrong, story, counts } = await liveInstallation({ owner, simulated }, seed, seed, traitsOf(seed));
      expect(wrong, story.join('\n')).toEqual([]);
      expect(counts.entries).toBeGreaterThan(0);
    },
    longestLifeMs,
  );
});

test('the traits of a seed are the same whenever they are drawn', () => expect(traitsOf(7)).toEqual(traitsOf(7)));
