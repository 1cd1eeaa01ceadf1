// Plays the rounds it is sent, one after the other, in a database of its own; delivery a mutant where one is named.

import { openDatabase } from '../../../src/db/pool.ts';
import { SimulatedDatabase } from '../../simulator/database.ts';
import { applyMutant, roundsOf } from './mutants.ts';
import type { RoundOptions } from './round.ts';

const [url, ownerUrl, mutant] = process.argv.slice(2) as [string, string, string];
if (mutant !== '') applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { playRound, prepareDatabase } = await import('./round.ts');

const databases = {
  owner: openDatabase(ownerUrl),
  simulated: new SimulatedDatabase(url),
};
await prepareDatabase(databases);
let n = 0;

process.on('message', async ({ seed, options }: { seed: number | null; options?: RoundOptions }) => {
  if (seed === null) {
    await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
    process.exit(0);
  }
  n += 1;
  const given = mutant === '' ? {} : roundsOf(mutant);
  process.send?.(await playRound(databases, seed, n, { ...given, ...options }));
});
process.send?.('ready');
