import { afterAll, beforeAll, describe } from 'vitest';
import { companyOf } from '../../../src/erp/company.ts';
import { useDatabase } from '../../support/database.ts';
import { query } from '../../support/sql.ts';
import { playedRecords, records } from '../fake/records.ts';
import { FakeServer } from '../fake/server.ts';
import { calm, FakeTarget, type Fault } from '../fake/target.ts';
import { SimulatedTime } from '../fake/time.ts';
import { SimulatedDatabase, simulateClock } from '../rounds/database.ts';
import { installationOf } from '../rounds/round.ts';
import { type ContractSubject, contractSuite } from './suite.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());
let companies = 0;

async function begin(name: string): Promise<ContractSubject> {
  companies += 1;
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const server = new FakeServer({ record: records[name]!, time, random: () => 0.5 });
  const installation = installationOf(companies, companies);
  if (installation.erp.kind !== 'tryton') throw new Error('an installation that is delivered');
  const company = companyOf(installation.erp);
  const { db, release } = simulated.open(time, { isDead: false, step: async () => undefined });
  const [id] = await query<{ value: string }>(owner, `select value from meta where key = 'database_id'`);
  let next: Fault = 'none';
  const network = ({ kind }: { kind: string }) => {
    if (kind !== 'create') return calm;
    const fault = next;
    next = 'none';
    return { ...calm, workMs: 30_000, fault };
  };
  return {
    ...{ db, databaseId: id!.value, installation, clock: time.clock() },
    open: () => new FakeTarget({ server, company, network }),
    run: (work) => time.run(work()),
    breakNextCreate: (when) => {
      next = when === 'before' ? 'request_lost' : 'answer_lost';
    },
    lock: async (through) => void server.lock(through),
    unlock: async () => server.unlock(),
    held: async () =>
      server.held().map(({ description, state, date, lines }) => ({
        ...{ description, state, date },
        lines: lines.map(({ account, amount }) => `${account} ${amount.toFixed(2)}`),
      })),
    close: release,
  };
}

describe.each(playedRecords)('an ERP like %s', (name) => {
  contractSuite(() => begin(name));
});
