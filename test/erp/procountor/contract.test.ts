import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transactionsOf } from '../../../src/db/lease.ts';
import { readBooks } from '../../../src/erp/books/read-erp-books.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { procountorCapabilities } from '../../../src/erp/targets/procountor/capabilities.ts';
import { openProcountor } from '../../../src/erp/targets/procountor/index.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { checkErpBooks } from '../../../src/reconcile/e7-erp.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery, type ContractSubject } from '../contract/cases.ts';
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

  async function begin(): Promise<ContractSubject & { fake: FakeProcountor }> {
    const { time, installation: plain, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const mapping = parseMapping({ ...mappingData, erp: words });
    if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
    const installation = { ...plain, mapping: mapping.mapping };
    const clock = time.clock();
    const fake = new FakeProcountor(clock);
    const troubles = new Troubles();
    const ports = { clock, log: silent, transport: fake };
    return {
      ...{ capabilities: procountorCapabilities, db, databaseId, installation, time, troubles, fake },
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

  test('E7 names receipts that a person set back, invalidated, changed or copied', async () => {
    const subject = await begin();
    const { db, databaseId, installation, time, fake } = subject;
    const planned = await new ContractDelivery(subject).post(5, { corrections: false });
    const delivery = new ContractDelivery(subject);
    await delivery.drain();
    await delivery.expectDelivered(planned);
    const target = openProcountor(fake.config, { clock: time.clock(), log: silent as never, transport: fake });
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
    const [back, invalid, moved, copied] = fake.held().map(({ id }) => id) as [string, string, string, string];
    await time.run(time.sleep(3_600_000));
    fake.change(back, { status: 'UNFINISHED' });
    fake.change(invalid, { status: 'INVALIDATED' });
    fake.change(moved, { receiptDate: '2026-03-04' });
    fake.copy(copied);
    const found = await faults();
    expect(found).toHaveLength(4);
    expect(found.join('\n')).toMatch(/draft/);
    await subject.close();
  });
});
