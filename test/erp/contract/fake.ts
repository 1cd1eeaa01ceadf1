// Companies of the fake, for the contract's cases.

import type { Db } from '../../../src/db/pool.ts';
import { companyOf } from '../../../src/erp/company.ts';
import type { SimulatedDatabase } from '../../simulator/database.ts';
import { installationOf } from '../../simulator/delivery/installation.ts';
import { flaws } from '../../simulator/delivery/plan.ts';
import { query } from '../../support/sql.ts';
import type { played } from '../fake/assumptions.ts';
import { records } from '../fake/records.ts';
import { FakeServer } from '../fake/server.ts';
import { FakeTarget } from '../fake/target.ts';
import { SimulatedTime } from '../fake/time.ts';
import type { ContractSubject } from './cases.ts';
import { Troubles, troubled } from './troubled.ts';

/** The simulated time after a window has closed. */
export const contractStart = Date.parse('2026-03-06T06:00:00Z');

let companies = 0;

/** A new installation, company and database connection for one case. */
export async function newCompany({ owner, simulated }: { owner: Db; simulated: SimulatedDatabase }) {
  companies += 1;
  const time = new SimulatedTime(contractStart);
  const installation = installationOf(companies, companies);
  if (installation.erp.kind !== 'tryton') throw new Error('an installation that is delivered');
  const { db, release } = simulated.open(time, { isDead: false, step: async () => undefined });
  const [id] = await query<{ value: string }>(owner, `select value from meta where key = 'database_id'`);
  return { time, installation, company: companyOf(installation.erp), db, release, databaseId: id?.value ?? '' };
}

export async function fakeSubject(
  databases: { owner: Db; simulated: SimulatedDatabase },
  name: string | ReturnType<typeof played>,
): Promise<ContractSubject> {
  const { record, believed } = typeof name === 'string' ? { record: records[name], believed: undefined } : name;
  if (!record) throw new Error(`no record ${name}`);
  const { time, installation, company, db, release, databaseId } = await newCompany(databases);
  const server = new FakeServer({ record, time, flaws, random: () => 0.5 });
  const troubles = new Troubles();
  return {
    ...{ capabilities: believed ?? record.capabilities, db, databaseId, installation, time, troubles },
    open: () => troubled(new FakeTarget({ server, ...(believed && { believed }) }), { troubles, time, company }),
    setAway: (isAway) => {
      troubles.isAway = isAway;
    },
    lock: async (through) => void server.lock(through),
    unlock: async () => server.unlock(),
    held: async () => server.held().filter(({ state }) => state !== 'void'),
    misdeeds: () => server.misdeeds.map(({ text }) => text),
    close: release,
  };
}
