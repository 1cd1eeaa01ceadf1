import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transactionsOf } from '../../../src/db/lease.ts';
import { readBooks } from '../../../src/erp/books/read-erp-books.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { netvisorCapabilities } from '../../../src/erp/targets/netvisor/capabilities.ts';
import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { checkErpBooks } from '../../../src/reconcile/e7-erp.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery, type ContractSubject } from '../contract/cases.ts';
import { newCompany } from '../contract/fake.ts';
import { contractSuite } from '../contract/suite.ts';
import { Troubles, troubled } from '../contract/troubled.ts';
import { FakeNetvisor } from './fake.ts';

/** The ERP section of the mapping for the fake company. */
const words = { ...mappingData.erp, vat_codes: { A: 'KOMY 25.5' }, journals: { '*': 'Eläinlääkäri' } };
const silent = { debug: () => {}, info: () => {}, warn: () => {} };

describe('a fake Netvisor', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => simulateClock(owner));
  afterAll(() => simulated.close());

  async function begin(): Promise<ContractSubject & { fake: FakeNetvisor }> {
    const { time, installation: plain, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const mapping = parseMapping({ ...mappingData, erp: words });
    if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
    const installation = { ...plain, mapping: mapping.mapping };
    const clock = time.clock();
    const fake = new FakeNetvisor(clock);
    const troubles = new Troubles();
    const ports = { clock, log: silent, transport: fake };
    return {
      ...{ capabilities: netvisorCapabilities, db, databaseId, installation, time, troubles, fake },
      open: () => troubled(openNetvisor(fake.config, ports), { troubles, time, company }),
      setAway: (isAway) => {
        troubles.isAway = isAway;
      },
      lock: async (through) => fake.lock(through),
      unlock: async () => fake.unlock(),
      held: async () =>
        fake
          .books()
          .filter(({ state }) => state === 'valid')
          .map((each) => ({
            ...each,
            ...{ description: each.description.slice(0, each.description.indexOf(' · ')), state: 'posted' },
          })),
      misdeeds: () => [],
      close: release,
    };
  }

  contractSuite(netvisorCapabilities, begin);

  test('E7 names vouchers that a person invalidated, changed or copied', async () => {
    const subject = await begin();
    const { db, databaseId, installation, time, fake } = subject;
    const planned = await new ContractDelivery(subject).post(5, { corrections: false });
    const delivery = new ContractDelivery(subject);
    await delivery.drain();
    await delivery.expectDelivered(planned);
    const target = openNetvisor(fake.config, { clock: time.clock(), log: silent as never, transport: fake });
    const company = companyKeyOf(installation.erp) ?? '';
    const faults = () =>
      time.run(
        (async () => {
          const ports = { db, transact: transactionsOf(db), databaseId, installation, target, ownedAccounts: [] };
          const signal = new AbortController().signal;
          const { balances } = await readBooks({ ...ports, signal, onProgress: () => undefined }, { full: false });
          const { id, decimals } = installation;
          const { equation } = await checkErpBooks(db, { id, decimals, company, ownedAccounts: [], balances });
          return equation.documents.map(({ message }) => message);
        })(),
      );
    expect(await faults()).toEqual([]);
    const [recoded, invalid, moved, copied] = fake.held().map(({ id }) => String(id)) as [
      string,
      string,
      string,
      string,
    ];
    await time.run(time.sleep(3_600_000));
    const [{ lines } = { lines: [] }] = fake.held();
    fake.change(recoded, {
      lines: lines.map((line) => ({ ...line, code: line.code === 'KOMY' ? 'MUUL' : line.code })),
    });
    fake.change(invalid, { status: 'invalidated' });
    fake.change(moved, { date: '2026-03-04' });
    fake.copy(copied);
    const found = await faults();
    expect(found).toHaveLength(4);
    expect(found.join('\n')).toMatch(/MUUL/);
    await subject.close();
  });
});
