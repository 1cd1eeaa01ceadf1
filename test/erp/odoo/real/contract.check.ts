import { afterAll, beforeAll, describe } from 'vitest';
import type { OdooConfig } from '../../../../src/config/erp.ts';
import { odooCapabilities } from '../../../../src/erp/targets/odoo/capabilities.ts';
import { openOdoo } from '../../../../src/erp/targets/odoo/index.ts';
import { parseMapping } from '../../../../src/mapping/parse.ts';
import { SimulatedDatabase, simulateClock } from '../../../simulator/database.ts';
import { mappingData } from '../../../simulator/delivery/plan.ts';
import { useDatabase } from '../../../support/database.ts';
import { configOf, hasOdoo, odooVersion, ports } from '../../../support/odoo.ts';
import { readMoves } from '../../../support/odoo-books.ts';
import { makeCompany, type OdooCompany, setLock } from '../../../support/odoo-company.ts';
import { contractBooks, contractWords } from '../../../support/odoo-demo.ts';
import { makeApiKey } from '../../../support/odoo-key.ts';
import type { ContractSubject } from '../../contract/cases.ts';
import { newCompany } from '../../contract/fake.ts';
import { outsideTime } from '../../contract/outside-time.ts';
import { contractSuite } from '../../contract/suite.ts';
import { Troubles, troubled } from '../../contract/troubled.ts';

const hasJson2 = ((await odooVersion()) ?? 0) >= 19;

describe
  .skipIf(!hasOdoo)
  .each([
    { as: 'a user who may look up external ids', mayLookUp: true, protocol: 'jsonrpc' as const },
    { as: 'a user who may not', mayLookUp: false, protocol: 'jsonrpc' as const },
    ...(hasJson2 ? [{ as: 'a user with a key, over /json/2', mayLookUp: true, protocol: 'json2' as const }] : []),
  ])('a real Odoo, as $as', { timeout: 120_000 }, ({ mayLookUp, protocol }) => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  let odoo: OdooCompany;
  let config: OdooConfig;

  beforeAll(async () => {
    await simulateClock(owner);
    odoo = await makeCompany(contractBooks);
    const api = await odoo.api({ mayLookUp });
    const secret = protocol === 'json2' ? { user: '', password: await makeApiKey(api) } : {};
    config = configOf(api, { protocol, ...secret });
  });
  afterAll(async () => {
    await simulated.close();
    await odoo?.release();
  });

  /** Each case has a new installation and therefore new moves, so that moves of other cases do not matter. */
  async function begin(): Promise<ContractSubject> {
    const { time, installation: plain, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const mapping = parseMapping({ ...mappingData, erp: { ...mappingData.erp, ...contractWords } });
    if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
    const installation = { ...plain, mapping: mapping.mapping };
    const troubles = new Troubles();
    const ours = ` · ${installation.id}/invoice/`;
    return {
      ...{ capabilities: odooCapabilities, db, databaseId, installation, time, troubles },
      open: () => troubled(outsideTime(openOdoo(config, ports), time), { troubles, time, company }),
      setAway: (isAway) => {
        troubles.isAway = isAway;
      },
      lock: (through) => setLock(odoo.admin, through),
      unlock: () => setLock(odoo.admin, null),
      async held() {
        const moves = await readMoves(odoo.admin, [['ref', 'like', ours]]);
        return moves.map(({ ref, state, date, lines }) => ({
          ...{ description: ref.slice(0, ref.indexOf(ours)), state, date },
          lines: lines.map(({ account, amount }) => ({ account, amount })),
        }));
      },
      misdeeds: () => [],
      close: release,
    };
  }

  contractSuite(odooCapabilities, begin, { isAlone: true });
});
