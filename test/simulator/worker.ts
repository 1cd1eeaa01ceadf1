// Lives the seeds it is sent, one after the other, in a database of its own; the program is a mutant if one is named.

import { applyMutant } from './mutants.ts';
import type { Traits } from './traits.ts';

const [url, ownerUrl, mutant] = process.argv.slice(2) as [string, string, string];
if (mutant !== '') applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { live, openDatabases, prepareDatabase } = await import('./life.ts');

const databases = openDatabases({ url, ownerUrl });
await prepareDatabase(databases);
let n = 0;

process.on('message', async ({ seed, traits }: { seed: number | null; traits: Partial<Traits> }) => {
  if (seed === null) {
    await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
    process.exit(0);
  }
  n += 1;
  process.send?.(await live(databases, seed, n, traits));
});
process.send?.('ready');
