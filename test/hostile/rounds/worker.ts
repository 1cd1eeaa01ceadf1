// Plays the rounds it is sent, in a database of its own, the program a mutant where one is named.

import { openDatabase } from '../../../src/db/pool.ts';
import { applyMutant } from './mutants.ts';

const [url, ownerUrl, mutant] = process.argv.slice(2) as [string, string, string | undefined];
if (mutant) applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { playRound, prepareDatabase } = await import('./round.ts');

const databases = { db: openDatabase(url, { report: () => undefined }), owner: openDatabase(ownerUrl) };
await prepareDatabase(databases);
let installation = 0;

process.on('message', async ({ seed }: { seed: number }) => {
  installation += 1;
  process.send?.(await playRound(databases, seed, installation));
});
