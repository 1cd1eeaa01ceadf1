import { afterAll, beforeAll, describe } from 'vitest';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { strategyOf } from '../../../src/erp/strategy.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { playedRecords, records } from '../fake/records.ts';
import { fakeSubject } from './fake.ts';
import { contractSuite } from './suite.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

/**
 * The traits of a record that the cases depend on. Records with equal traits need only one test; the length of a
 * look-up, for example, does not matter.
 */
function traitsOf(record: Capabilities): string {
  const { batchEntries, draftsFirst, repeatsAtOnce, readBack } = strategyOf(record);
  const { unique, duplicate_reply: reply } = record.key;
  const ofKey = unique === 'none' ? unique : reply;
  const { withdraw } = record.write;
  const { on_locked: onLocked } = record.periods;
  return [batchEntries > 1, draftsFirst, repeatsAtOnce, withdraw, readBack, ofKey, onLocked, record.vat.mode].join(' ');
}

const tried = new Set<string>();
describe.each(playedRecords)('an ERP like %s', (name) => {
  const record = records[name]?.capabilities;
  if (!record) throw new Error(`no record ${name}`);
  const traits = traitsOf(record);
  contractSuite(record, () => fakeSubject({ owner, simulated }, name), { isLikeOneBefore: tried.has(traits) });
  tried.add(traits);
});
