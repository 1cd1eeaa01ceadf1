import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transactionsOf } from '../../../src/db/lease.ts';
import { readBooks } from '../../../src/erp/books/read-erp-books.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { procountorCapabilities } from '../../../src/erp/targets/procountor/capabilities.ts';
import { checkErpBooks } from '../../../src/reconcile/e7-erp.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery } from '../contract/cases.ts';
import { cloudSubject } from '../contract/cloud.ts';
import { contractSuite } from '../contract/suite.ts';
import { procountor } from './company.ts';

describe('a fake Procountor', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => simulateClock(owner));
  afterAll(() => simulated.close());

  const begin = () => cloudSubject({ owner, simulated }, procountor);

  contractSuite(procountorCapabilities, begin);

  test('E7 names receipts that a person set back, invalidated, changed or copied', async () => {
    const subject = await begin();
    const { db, databaseId, installation, time, fake } = subject;
    const planned = await new ContractDelivery(subject).post(5, { corrections: false });
    const delivery = new ContractDelivery(subject);
    await delivery.drain();
    await delivery.expectDelivered(planned);
    const target = subject.target();
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
