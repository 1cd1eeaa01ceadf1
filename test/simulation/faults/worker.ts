// Lives the seeds it is sent, one after the other, in a database of its own; the program a mutant where one is named.

import { openDatabase } from '../../../src/db/pool.ts';
import { SimulatedDatabase } from '../../erp/rounds/database.ts';
import { applyMutant } from './mutants.ts';

const [url, ownerUrl, mutant] = process.argv.slice(2) as [string, string, string];
const traits = mutant === '' ? {} : applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { live, prepareDatabase } = await import('./life.ts');

const databases = {
  owner: openDatabase(ownerUrl),
  // Every table has times.
  simulated: new SimulatedDatabase(url, { asksForTime: /./ }),
};
await prepareDatabase(databases);
let n = 0;

process.on('message', async ({ seed }: { seed: number | null }) => {
  if (seed === null) {
    await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
    process.exit(0);
  }
  n += 1;
  process.send?.(await live(databases, seed, n, traits));
});
process.send?.('ready');
