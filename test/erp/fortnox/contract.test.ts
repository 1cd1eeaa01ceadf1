import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transactionsOf } from '../../../src/db/lease.ts';
import { readBooks } from '../../../src/erp/books/read-erp-books.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { checkErpBooks } from '../../../src/reconcile/e7-erp.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { query } from '../../support/sql.ts';
import { ContractDelivery, changingList } from '../contract/cases.ts';
import { capabilitiesOf, cloudSubject } from '../contract/cloud.ts';
import { contractSuite } from '../contract/suite.ts';
import { fortnox } from './company.ts';

describe('a fake Fortnox', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => simulateClock(owner));
  afterAll(() => simulated.close());

  const begin = () => cloudSubject({ owner, simulated }, fortnox, { isCautious: true });

  contractSuite(capabilitiesOf('fortnox', true), begin, { more: [changingList] });

  test('E7 reads the year as SIE, and names vouchers that a person changed, copied or deleted', async () => {
    const subject = await begin();
    const { db, databaseId, installation, time, fake } = subject;
    const delivery = new ContractDelivery(subject);
    const planned = await delivery.post(5, { corrections: false });
    await delivery.drain();
    await delivery.expectDelivered(planned);
    const target = subject.target();
    const company = companyKeyOf(installation.erp) ?? '';
    const read = () =>
      time.run(
        (async () => {
          // The deliveries have used up the requests of these seconds.
          await time.sleep(5_000);
          const ports = { db, transact: transactionsOf(db), databaseId, installation, target, ownedAccounts: [] };
          const signal = new AbortController().signal;
          const { balances } = await readBooks({ ...ports, signal, onProgress: () => undefined }, { full: false });
          const { id, decimals } = installation;
          const { equation } = await checkErpBooks(db, { id, decimals, company, ownedAccounts: [], balances });
          const written = [...balances].map(([account, amount]) => `${account} ${amount.toFixed(2)}`);
          return { balances: written.toSorted(), faults: equation.documents.map(({ message }) => message) };
        })(),
      );
    const ours = await time.run(
      query<{ account: string; balance: string }>(
        db,
        `select account, sum(case side when 'debit' then amount else -amount end)::numeric(20, 2)::text as balance
         from entry_line where entry_id like ? group by 1 order by 1`,
        [`${installation.id}/%`],
      ),
    );
    const year = await read();
    expect(year.faults).toEqual([]);
    expect(year.balances).toEqual(ours.map(({ account, balance }) => `${account} ${balance}`));
    const ids = fake.held().map(({ id }) => id) as [string, string, string, string, string];
    await time.run(time.sleep(3_600_000));
    fake.change(ids[0], (voucher) => {
      const [row] = voucher.VoucherRows;
      if (row === undefined) throw new Error('no row');
      voucher.VoucherRows.push({ ...row, Account: 1910 });
      row.Removed = true;
    });
    fake.change(ids[1], (voucher) => {
      voucher.TransactionDate = '2026-03-04';
    });
    fake.copy(ids[2]);
    fake.remove(ids[4]);
    const { faults } = await read();
    expect(faults).toHaveLength(4);
    await subject.close();
  });
});
