// Plays the seeds that its parent sends, one after the other, in a separate database. The program may be a mutant.

import type { Given } from './lives.ts';
import { applyMutant } from './mutants.ts';

const [url, ownerUrl, mutant] = process.argv.slice(2) as [string, string, string];
if (mutant !== '') applyMutant(mutant);
// The mutant must be installed first, because it changes modules that load from here on.
const { live } = await import('./lives.ts');
const { openDatabases, prepareDatabase } = await import('./world.ts');

const databases = openDatabases({ url, ownerUrl });
await prepareDatabase(databases);
let n = 0;

process.on('message', async ({ seed, given }: { seed: number | null; given: Given }) => {
  if (seed === null) {
    await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
    process.exit(0);
  }
  n += 1;
  process.send?.(await live(databases, seed, n, given));
});
// The parent was killed, so this process must end, too.
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
