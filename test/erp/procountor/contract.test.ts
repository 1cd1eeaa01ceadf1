import { afterAll, beforeAll, describe } from 'vitest';
import { procountorCapabilities } from '../../../src/erp/targets/procountor/capabilities.ts';
import { openProcountor } from '../../../src/erp/targets/procountor/index.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import type { ContractSubject } from '../contract/cases.ts';
import { newCompany } from '../contract/fake.ts';
import { contractSuite } from '../contract/suite.ts';
import { Troubles, troubled } from '../contract/troubled.ts';
import { FakeProcountor } from './fake.ts';

/** The ERP section of the mapping for the fake company. */
const words = { ...mappingData.erp, vat_codes: { A: 'vat_1 25.5' }, journals: { '*': 'JOURNAL' } };
const states = { UNFINISHED: 'draft', APPROVED: 'posted', INVALIDATED: 'void' };
const silent = { debug: () => {}, info: () => {}, warn: () => {} };

describe('a fake Procountor', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => simulateClock(owner));
  afterAll(() => simulated.close());

  async function begin(): Promise<ContractSubject> {
    const { time, installation: plain, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const mapping = parseMapping({ ...mappingData, erp: words });
    if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
    const installation = { ...plain, mapping: mapping.mapping };
    const clock = time.clock();
    const fake = new FakeProcountor(clock);
    const troubles = new Troubles();
    const ports = { clock, log: silent, transport: fake };
    return {
      ...{ capabilities: procountorCapabilities, db, databaseId, installation, time, troubles },
      open: () => troubled(openProcountor(fake.config, ports), { troubles, time, company }),
      setAway: (isAway) => {
        troubles.isAway = isAway;
      },
      lock: async (through) => fake.lock(through),
      unlock: async () => fake.unlock(),
      held: async () =>
        fake
          .held()
          .filter(({ status }) => status !== 'INVALIDATED')
          .map(({ name, status, date, lines }) => ({
            ...{ description: name.slice(0, name.indexOf(' · ')), state: states[status], date, lines },
          })),
      misdeeds: () => [],
      close: release,
    };
  }

  contractSuite(procountorCapabilities, begin);
});
