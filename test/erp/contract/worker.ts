// Tries one of the contract's cases with the fake, delivery a mutant where one is named; tells what was wrong, null where nothing was.

import { AssertionError } from 'node:assert';
import { openDatabase } from '../../../src/db/pool.ts';
import { records } from '../fake/records.ts';
import { SimulatedDatabase } from '../rounds/database.ts';
import { applyMutant } from '../rounds/mutants.ts';

const [url, ownerUrl, mutant, name, caseName] = process.argv.slice(2) as [string, string, string, string, string];
if (mutant !== '') applyMutant(mutant);
// After the faults are in: they change what is loaded from here on.
const { ContractDelivery, contractCases } = await import('./cases.ts');
const { fakeSubject } = await import('./fake.ts');
const { simulateClock } = await import('../rounds/database.ts');

const databases = { owner: openDatabase(ownerUrl), simulated: new SimulatedDatabase(url) };
await simulateClock(databases.owner);
if (records[name] === undefined) throw new Error(`no record ${name}`);
const tried = contractCases.find((one) => one.name === caseName);
if (tried === undefined) throw new Error(`no case ${caseName}`);
const subject = await fakeSubject(databases, name);
let wrong: string | null = null;
try {
  await tried.run(new ContractDelivery(subject), subject);
} catch (error) {
  // What else may go wrong is not what the case looks for.
  const isFound = error instanceof AssertionError || (error instanceof Error && error.name === 'Endless');
  if (!isFound) throw error;
  wrong = error.message;
}
await subject.close();
process.send?.({ wrong });
await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
process.exit(0);
