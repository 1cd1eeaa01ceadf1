// A new organisation in the fake, for the contract's cases and for random rounds.

import type { Db } from '../../../src/db/pool.ts';
import { reliedOn } from '../../../src/erp/cautious.ts';
import { provenances } from '../../../src/erp/targets/provenance.ts';
import { openXero } from '../../../src/erp/targets/xero/index.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import type { SimulatedDatabase } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import type { ContractSubject } from '../contract/cases.ts';
import { newCompany } from '../contract/fake.ts';
import { Troubles, troubled } from '../contract/troubled.ts';
import { FakeXero } from './fake.ts';

/** The ERP section of the mapping for the fake organisation. */
const words = { ...mappingData.erp, vat_codes: { A: 'OUTPUT2' }, journals: { '*': 'MANJOURNAL' } };
const states: Record<string, string> = { DRAFT: 'draft', POSTED: 'posted' };
export const silent = { debug: () => {}, info: () => {}, warn: () => {} };

/** With `isCautious`, deliveries rely only on what was measured, as those of an installation do. */
export async function xeroSubject(
  databases: { owner: Db; simulated: SimulatedDatabase },
  { isCautious = false } = {},
): Promise<ContractSubject & { fake: FakeXero }> {
  const { time, installation: plain, company, db, release, databaseId } = await newCompany(databases);
  const mapping = parseMapping({ ...mappingData, erp: words });
  if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
  const installation = { ...plain, mapping: mapping.mapping };
  const clock = time.clock();
  const fake = new FakeXero(clock);
  const troubles = new Troubles();
  const { capabilities: own } = provenances.xero;
  const capabilities = isCautious ? reliedOn(provenances.xero) : own;
  const open = () =>
    Object.assign(openXero(fake.config, { clock, log: silent as never, transport: fake }), { capabilities });
  return {
    ...{ capabilities, db, databaseId, installation, time, troubles, fake },
    open: () => troubled(open(), { troubles, time, company }),
    setAway: (isAway) => {
      troubles.isAway = isAway;
    },
    lock: async (through) => fake.lock(through),
    unlock: async () => fake.unlock(),
    held: async () =>
      fake.held().map(({ narration, status, date, lines }) => ({
        description: narration.slice(0, narration.indexOf(' · ')),
        ...{ state: states[status] ?? status, date, lines },
      })),
    misdeeds: () => [],
    close: release,
  };
}
