// A company in the fake Fortnox, as the subject of the contract's cases.

import { reliedOn } from '../../../src/erp/cautious.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { ErpTransport } from '../../../src/erp/targets/api/http.ts';
import { openFortnox } from '../../../src/erp/targets/fortnox/index.ts';
import { provenances } from '../../../src/erp/targets/provenance.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import type { ContractSubject } from '../contract/cases.ts';
import { newCompany } from '../contract/fake.ts';
import { Troubles, troubled } from '../contract/troubled.ts';
import { FakeFortnox } from './fake.ts';

/** The ERP section of the mapping for the fake company. */
const words = {
  ...mappingData.erp,
  ...{ vat_codes: { A: 'MP1/U1' }, dimensions: { dimension_1: { name: 'Project' } }, journals: { '*': 'V' } },
};
const silent = { debug: () => {}, info: () => {}, warn: () => {} };
/** The record that deliveries use, since nothing was measured. */
const capabilities = reliedOn(provenances.fortnox);

export interface FortnoxSubject extends ContractSubject {
  fake: FakeFortnox;
  /** The target without planned troubles. */
  target(): ErpTarget;
}

/** `over`: wraps the connection to the fake. */
export async function fortnoxCompany(
  databases: Parameters<typeof newCompany>[0],
  over: (fake: FakeFortnox, time: ContractSubject['time']) => ErpTransport = (fake) => fake,
): Promise<FortnoxSubject> {
  const { time, installation: plain, company, db, release, databaseId } = await newCompany(databases);
  const mapping = parseMapping({ ...mappingData, erp: words });
  if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
  const installation = { ...plain, mapping: mapping.mapping };
  const clock = time.clock();
  const fake = new FakeFortnox(clock);
  const troubles = new Troubles();
  const transport = over(fake, time);
  const target = () =>
    Object.assign(openFortnox(fake.config, { clock, log: silent as never, transport }), { capabilities });
  return {
    ...{ capabilities, db, databaseId, installation, time, troubles, fake, target },
    open: () => troubled(target(), { troubles, time, company }),
    setAway: (isAway) => {
      troubles.isAway = isAway;
    },
    lock: async (through) => fake.lock(through),
    unlock: async () => fake.unlock(),
    held: async () =>
      fake
        .held()
        .filter(({ id }) => id.startsWith('V/'))
        .map(({ description, date, lines }) => ({
          ...{ description: description.slice(0, description.lastIndexOf(' - ')), state: 'posted', date, lines },
        })),
    misdeeds: () => [],
    close: release,
  };
}
