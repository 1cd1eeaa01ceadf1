import { afterAll, beforeAll, describe } from 'vitest';
import type { OdooConfig } from '../../../../src/config/erp.ts';
import { odooCapabilities } from '../../../../src/erp/targets/odoo/capabilities.ts';
import { openOdoo } from '../../../../src/erp/targets/odoo/index.ts';
import { SimulatedDatabase, simulateClock } from '../../../simulator/database.ts';
import { useDatabase } from '../../../support/database.ts';
import type { ContractSubject } from '../../contract/cases.ts';
import { newCompany } from '../../contract/fake.ts';
import { matchingCases } from '../../contract/matching-cases.ts';
import { contractSuite } from '../../contract/suite.ts';
import { Troubles, troubled } from '../../contract/troubled.ts';
import { directWay, FakeCompany } from './company.ts';
import type { OdooVersion } from './schema.ts';

/** Version, protocol, and whether the user may search external ids. */
export type Flavour = [version: OdooVersion, protocol: OdooConfig['protocol'], mayLookUp: boolean];

const silent = { debug: () => {}, info: () => {}, warn: () => {} };

/** Runs the contract suite against each of these fakes of Odoo. */
export function odooContract(flavours: readonly Flavour[]): void {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => simulateClock(owner));
  afterAll(() => simulated.close());

  describe.each(flavours)('a fake Odoo %i over %s, its user allowed to search external ids: %s', (...flavour) => {
    const [version, protocol, mayLookUp] = flavour;
    async function begin(): Promise<ContractSubject> {
      const { time, installation, company, db, release, databaseId } = await newCompany({ owner, simulated });
      const clock = time.clock();
      const fake = new FakeCompany({ version, clock, protocol, mayLookUp });
      const troubles = new Troubles();
      const ports = { clock, log: silent, transport: directWay(fake.odoo) };
      return {
        ...{ capabilities: odooCapabilities, db, databaseId, installation, time, troubles },
        open: () => troubled(openOdoo(fake.config, ports), { troubles, time, company }),
        setAway: (isAway) => {
          troubles.isAway = isAway;
        },
        lock: async (through) => fake.lock(through),
        unlock: async () => fake.unlock(),
        held: async () => fake.held(),
        misdeeds: () => [],
        close: release,
      };
    }

    contractSuite(odooCapabilities, begin, { more: matchingCases });
  });
}
