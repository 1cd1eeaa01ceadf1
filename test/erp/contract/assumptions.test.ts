import { afterAll, beforeAll, expect, test } from 'vitest';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { assumedErps, type Behaviour, played } from '../fake/assumptions.ts';
import { ContractDelivery, contractCases } from './cases.ts';
import { fakeSubject } from './fake.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

const name = 'a request to create with the trouble «answer_lost» loses and doubles nothing';

/** A sample of the assumption matrix: the ERP behaves worse than its record in everything that is not measured. */
test.each<[erp: string, behaviour: Partial<Behaviour>]>([
  ['like netvisor', { repeat: 'ignored', lagSeconds: 60, worksSeconds: 600, locked: 'redated' }],
  ['procountor', { duplicate: 'refused', lagSeconds: 60, worksSeconds: 600, locked: 'redated' }],
])(`%s with %j: ${name}`, async (erp, behaviour) => {
  const assumed = assumedErps[erp];
  const tried = contractCases.find((one) => one.name === name);
  if (assumed === undefined || tried === undefined) throw new Error('no such ERP or case');
  const subject = await fakeSubject({ owner, simulated }, played(assumed, behaviour));
  try {
    await tried.run(new ContractDelivery(subject), subject);
    expect(subject.misdeeds()).toEqual([]);
  } finally {
    await subject.close();
  }
});
