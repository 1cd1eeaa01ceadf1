import { afterAll, beforeAll, describe } from 'vitest';
import { provenances } from '../../../src/erp/targets/provenance.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { assumedErps, behavioursOf, played } from '../fake/assumptions.ts';
import { fakeSubject } from './fake.ts';
import { contractSuite } from './suite.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

/** An ERP that has the key cannot create a second draft with it. */
const ofSecondDrafts = [
  'a draft that comes later than any is known to come is swept',
  'a draft that came late and that the ERP keeps at first is swept later',
];

/** Every target, with each behaviour of the assumption matrix. */
for (const kind of Object.keys(provenances)) {
  const assumed = assumedErps[kind];
  if (assumed === undefined) throw new Error(`no ERP ${kind}`);
  describe.each(behavioursOf(assumed).map((behaviour) => [JSON.stringify(behaviour), behaviour] as const))(
    `${kind} with %s`,
    (_, behaviour) => {
      const erp = played(assumed, behaviour);
      const { duplicate = 'accepted' } = behaviour;
      const without = duplicate === 'accepted' ? [] : ofSecondDrafts;
      contractSuite(erp.believed, () => fakeSubject({ owner, simulated }, erp), { without });
    },
  );
}
