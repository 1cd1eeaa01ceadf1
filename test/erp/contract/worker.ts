// Runs one of the contract's cases with the fake, optionally with a mutant of delivery. Prints the failure; null if the
// case passes.

import { AssertionError } from 'node:assert';
import { openDatabase } from '../../../src/db/pool.ts';
import { SimulatedDatabase } from '../../simulator/database.ts';
import { applyMutant } from '../../simulator/mutants.ts';
import { records } from '../fake/records.ts';

const [url, ownerUrl, mutant, name, caseName] = process.argv.slice(2) as [string, string, string, string, string];
if (mutant !== '') applyMutant(mutant);
// The mutant must be installed first, because it changes modules that load from here on.
const { ContractDelivery, contractCases } = await import('./cases.ts');
const { fakeSubject } = await import('./fake.ts');
const { simulateClock } = await import('../../simulator/database.ts');

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
  // Only these errors are failures of the case; others would be faults of the test.
  const isFound = error instanceof AssertionError || (error instanceof Error && error.name === 'Endless');
  if (!isFound) throw error;
  wrong = error.message;
}
await subject.close();
process.send?.({ wrong });
await Promise.all([databases.owner.destroy(), databases.simulated.close()]);
process.exit(0);
