// Lives the seeds it is sent, one after the other, in a database of its own; its sync a mutant where one is named.

import { openDatabase } from '../../src/db/pool.ts';
import { applyMutant, livesOf } from './mutants.ts';

const [url, mutant] = process.argv.slice(2);
if (mutant) applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { live } = await import('./life.ts');

const db = openDatabase(url!);
let installation = 0;

process.on('message', async ({ seed }: { seed: number | null }) => {
  if (seed === null) {
    await db.destroy();
    process.disconnect();
    return;
  }
  installation += 1;
  process.send!(await live(db, seed, installation, mutant ? livesOf(mutant) : {}));
});
