import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { giftCardAccount } from '../../sandbox/src/catalogue.ts';
import type { Clinic } from '../../sandbox/src/clinic.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { filled } from './page.ts';
import { type Played, playMonthEnd } from './play.ts';

let database: TestDatabase;
let played: Played;
beforeAll(async () => {
  database = await createTestDatabase();
  const services = { databaseUrl: database.ownerUrl, temporalAddress: inject('temporalAddress') };
  played = await playMonthEnd(services, () => undefined);
});
afterAll(async () => {
  await played?.stop();
  await database?.drop();
});

test('every report is what the clinic’s own records say, and every command ends as it should', () => {
  expect(played.differences).toEqual([]);
});

test('docs/accountants/month-end.md has what the commands print (`npm run month-end -- --write` writes it)', () => {
  const page = readFileSync(new URL('../../docs/accountants/month-end.md', import.meta.url), 'utf8');
  expect(filled(page, played.transcript)).toBe(page);
});

const inOctober = (day: string) => day.startsWith('2025-10');
const rowsWith = (clinic: Clinic, isWanted: (account: string) => boolean) =>
  clinic.invoiceRows.all().filter(({ account_number }) => isWanted(account_number));

/** For each mutant, one record of the clinic changes without the books, and these reports must differ. */
const mutants: [what: string, mutate: (clinic: Clinic) => () => void, reports: string[]][] = [
  [
    'a payment',
    (clinic) => {
      const payment = clinic.invoicePayments.all().findLast(({ payment_type: type }) => type === 0)!;
      return changed(payment, { paid: '0.01' });
    },
    ['report clearing', 'report receivables at 2025-10-31', 'export, balances by role'],
  ],
  [
    'the VAT number of a company',
    (clinic) => {
      const sold = clinic.invoiceRows.all().findLast(({ vat_group }) => vat_group.name.startsWith('EU '))!;
      return changed(clinic.invoice(sold.invoice), { payer_vat_number: 'EE0' });
    },
    ['report eu-sales'],
  ],
  [
    'a gift card',
    (clinic) => changed(rowsWith(clinic, (account) => account === giftCardAccount)[0]!, { sum: '51.00' }),
    ['report vouchers', 'export, balances by role'],
  ],
  [
    'a prepayment',
    (clinic) => {
      const { prepayments, zone } = clinic;
      return changed(prepayments.all().find(({ created }) => inOctober(zone.date(created)))!, { paid: '1.00' });
    },
    ['report clearing', 'report prepayments', 'export, balances by role'],
  ],
  [
    'the row that was corrected late',
    (clinic) => changed(clinic.invoiceRows.all().findLast(({ sum }) => sum === '80.0000')!, { sum_vat: '20.41' }),
    ['report vat, late items of October'],
  ],
  [
    'the row of the forgotten visit',
    (clinic) => changed(clinic.invoiceRows.all().at(-1)!, { sum: '61.00' }),
    ['report vat of November, late items'],
  ],
  [
    'the customer of an open invoice',
    (clinic) => changed(clinic.invoices.all().findLast(({ due_sum }) => due_sum === '68.40')!, { client: 1 }),
    ['report receivables at 2025-11-30'],
  ],
];

test.each(mutants)('a change of %s is noticed', async (_, mutate, reports) => {
  const undo = mutate(played.clinic);
  try {
    const different = (await played.compareAgain()).map((difference) => difference.split('\n')[0]);
    expect(different).toEqual(expect.arrayContaining(reports));
  } finally {
    undo();
  }
});

test('returns are filed and corrected, and VAT on prepayments is switched on and off', async () => {
  await played.goOn();
  expect(played.differences).toEqual([]);
});

function changed<Kind extends object>(found: Kind, changes: Partial<Kind>): () => void {
  const before = { ...found };
  Object.assign(found, changes);
  return () => void Object.assign(found, before);
}
