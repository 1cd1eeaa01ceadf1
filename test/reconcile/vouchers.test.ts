import { expect, test } from 'vitest';
import { reconcileText } from '../../src/cli/commands/reconcile-text.ts';
import { type InstallationReport, type ReconcileInput, reconcile } from '../../src/reconcile/index.ts';
import type { DraftLine } from '../ledger/drafts.ts';
import { mappingOf } from '../posting/support.ts';
import { useDatabase } from '../support/database.ts';
import {
  ClinicBooks,
  invoiceRecord,
  paid,
  paymentRecord,
  prepaid,
  prepaymentRecord,
  receivable,
} from './clinic-books.ts';

const { db } = useDatabase();
let nextInstallation = 1;

const mapping = mappingOf({ revenue_rules: [{ when: { account: '2949' }, role: 'gift_card_liability' }] });

const giftCard = (amount: string): DraftLine => [
  '2949',
  'gift_card_liability',
  amount,
  { rowIds: [11], departmentId: 11 },
];
const other: DraftLine = ['3000', 'revenue', '-1.00', { departmentId: 11 }];

/** Example 12: a gift card of 100.00 is sold, and 60.00 of it is redeemed on an invoice of 60.00. */
async function example12(
  { sold = '-100.00', redeemed = '60.00' } = {},
  overrides: Partial<ReconcileInput> = {},
): Promise<ClinicBooks> {
  const books = new ClinicBooks(db, nextInstallation++, overrides);
  await books.document('invoice', {
    record: invoiceRecord(1, '100.00', '0.00', '100.00'),
    lines: [receivable(1, '100.00'), giftCard(sold), ...(sold === '-100.00' ? [] : [other])],
  });
  await giftCardRow(books, 11, 1);
  await books.document('invoice', {
    record: invoiceRecord(2, '60.00', '0.00', '0.00'),
    lines: [receivable(2, '60.00'), ['3000', 'revenue', '-60.00', { rowIds: [21], departmentId: 11 }]],
  });
  await books.rows(2, [[21, '60.00', '0.00', '0']]);
  await books.document('payment', {
    record: paymentRecord(5, 2, 9, '60.00'),
    lines: paid(9, 'gift_card_liability', redeemed, 2),
  });
  return books;
}

function giftCardRow(books: ClinicBooks, id: number, invoice: number): Promise<void> {
  const group = { name: 'VAT 0', percentage: '0' };
  const amounts = { sum: '100.00', sum_vat: '0.00', sum_total: '100.00' };
  return books.mirror('row', { id, invoice, ...amounts, account_number: '2949', invoicerow_vat_group: group });
}

async function reportOf(books: ClinicBooks): Promise<InstallationReport> {
  return (await reconcile(db, [books.input])).installations[0]!;
}

test('E5 and E9 hold for a gift card that was sold and partly redeemed', async () => {
  const report = await reportOf(await example12());
  expect(report.ok).toBe(true);
  expect(report.listed.vouchers).toEqual([
    { role: 'gift_card_liability', opening: '0.00', sold: '100.00', redeemed: '-60.00', balance: '40.00' },
  ]);
  expect(reconcileText({ ok: true, complete: true, installations: [report] })).toContain(
    'gift_card_liability: sold 100.00, redeemed 60.00, unused 40.00',
  );
});

test('a prepayment that was paid by a gift card redeems it', async () => {
  const books = await example12();
  await books.document('prepayment', {
    record: prepaymentRecord(7, 9, '15.00', '15.00'),
    lines: prepaid(9, 'gift_card_liability', '15.00'),
  });
  const { equations, listed } = await reportOf(books);
  expect(equations.E9).toMatchObject({ ok: true });
  expect(listed.vouchers).toMatchObject([{ redeemed: '-75.00', balance: '25.00' }]);
});

test('E9 names the payment that redeems another amount than the source says', async () => {
  const { equations } = await reportOf(await example12({ redeemed: '59.00' }));
  expect(equations.E9).toEqual({
    ok: false,
    difference: '1.00',
    documents: [
      {
        document: 'payment 5',
        difference: '1.00',
        message: '-59.00 is posted on gift_card_liability, but must be -60.00 by the document',
      },
    ],
  });
});

test('E5 sees a line of a gift card that is not its row', async () => {
  const { equations } = await reportOf(await example12({ sold: '-99.00' }));
  expect(equations.E5.ok).toBe(false);
});

test('E9 names what no document in the mirror explains', async () => {
  const books = await example12();
  await books.post('payment', 99, '2026-01-16', [
    ['2949', 'gift_card_liability', '10.00', {}],
    ['1920', 'card_clearing', '-10.00', {}],
  ]);
  const { equations } = await reportOf(books);
  expect(equations.E9).toMatchObject({
    ok: false,
    difference: '10.00',
    documents: [
      {
        document: 'gift_card_liability',
        difference: '-10.00',
        message: 'it is 30.00 in the ledger, but must be 40.00 by the amounts sold and redeemed',
      },
    ],
  });
});

test('gift cards from before start_date are the opening balance, and their use a liability in debit', async () => {
  const books = new ClinicBooks(db, nextInstallation++, { mapping });
  const before = { date: '2025-12-20', state: 'before_start' as const };
  await books.document('invoice', {
    record: { ...invoiceRecord(1, '100.00', '0.00', '70.00'), invoice_date: '2025-12-20' },
    ...before,
  });
  await giftCardRow(books, 11, 1);
  await books.document('payment', { record: paymentRecord(4, 1, 9, '30.00'), ...before });
  await books.document('invoice', {
    record: invoiceRecord(2, '60.00', '0.00', '0.00'),
    lines: [receivable(2, '60.00'), ['3000', 'revenue', '-60.00', { rowIds: [21], departmentId: 11 }]],
  });
  await books.rows(2, [[21, '60.00', '0.00', '0']]);
  await books.document('payment', {
    record: paymentRecord(5, 2, 9, '60.00'),
    lines: paid(9, 'gift_card_liability', '60.00', 2),
  });
  const report = await reportOf(books);
  expect(report.ok).toBe(true);
  expect(report.listed.vouchers).toEqual([
    { role: 'gift_card_liability', opening: '70.00', sold: '0.00', redeemed: '-60.00', balance: '-60.00' },
  ]);
  expect(report.listed.liabilities_in_debit).toEqual([
    { account: '1909', roles: ['gift_card_liability'], balance: '60.00' },
  ]);
  expect(reconcileText({ ok: true, complete: true, installations: [report] })).toContain(
    '1909 (gift_card_liability): 60.00',
  );
});
