import { describe, expect, test } from 'vitest';
import { Findings } from '../../src/posting/findings.ts';
import { judge, post } from '../../src/posting/index.ts';
import { proveTotals } from '../../src/posting/proofs.ts';
import type { DocumentFacts, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import type { Defect, InvoiceRecord } from '../../src/records/types.ts';
import { erpProblemCatalogue } from '../../src/texts/erp-problems.ts';
import { type ProblemCode, problemCatalogue } from '../../src/texts/problems.ts';
import { DueScene } from './due-support.ts';
import {
  booksAfter,
  contextOf,
  invoice1001,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  money,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
  rowOf,
  type Totals,
  vatGroup,
} from './support.ts';

interface Case {
  code: ProblemCode;
  what: string;
  facts: DocumentFacts;
  context?: Partial<PostingContext>;
  before?: PostedBefore;
  /** A part of the message that only this case has. */
  says: string;
  /** True if the parts are fetched again before the problem counts. */
  refetch?: boolean;
  /** The state; the default is `held` for codes that hold and `posted` for others. */
  state?: string;
}

const hundred: Totals = ['100.00', '24.00', '124.00'];
const oneRow = (...amounts: [string | null, string | null, string | null]) => [rowOf('3000', ...amounts, { id: 5 })];
const good = () => oneRow('100.00', '24.00', '124.00');
const absent = (field: string): Defect[] => [{ code: 'amount_missing', field, message: 'is absent' }];
const noNumber = (field: string): Defect[] => [
  { code: 'amount_invalid', field, message: 'is not a decimal number ("x")' },
];
const noReference = (field: string): Defect[] => [
  { code: 'field_invalid', field, message: 'is not a reference to a record' },
];
const foreign = (field: string): Defect[] => [
  { code: 'foreign_reference', field, message: 'names another installation or another resource' },
];
const tooLarge: Defect[] = [{ code: 'record_too_large', field: 'the record', message: 'is too large (9 characters)' }];
const postedBefore = () => booksAfter(post(invoice1001(), nothingBefore, contextOf()));
const onPayment = () => ({
  ...{ startDate: '2026-01-18', mapping: mappingOf({ policies: { vat_due: { payment: '2026-01-01' } } }) },
});
/** The books of a payment whose invoice is of the opening balances and has no rows. */
function dueWithoutRows() {
  const scene = new DueScene(contextOf(onPayment()));
  scene.invoice({ ...invoice1001(), rows: [] });
  return scene.books();
}
const start = { startDate: '2026-01-01' };

const creditNote = invoiceFacts(
  invoiceOf(['-100.00', '-24.00', '-124.00'], { creditNote: true, originalInvoiceId: 2 }),
  [rowOf('3000', '-100.00', '-24.00', '-124.00', { id: 5 })],
);

/** P6: totals, rows, payments and prepayments with either sign; one cent above the bound, and far above it. */
const implausible: Case[] = [
  ...(['10000000.01', '-10000000.01', '1e25'] as const).flatMap((paid): Case[] => [
    {
      code: 'amount_implausible',
      what: `a payment of ${paid} (P6)`,
      facts: paymentFacts(paymentOf(0, paid)),
      says: 'Payment 50: paid is ',
      refetch: true,
    },
    {
      code: 'amount_implausible',
      what: `a prepayment of ${paid} (P6)`,
      facts: prepaymentFacts(0, paid),
      says: 'Prepayment 90: paid is ',
      refetch: true,
    },
  ]),
  ...(['total', 'totalVat', 'totalWithVat'] as const).map(
    (name): Case => ({
      code: 'amount_implausible',
      what: `an invoice whose ${name} is -10,000,000.01 (P6)`,
      facts: invoiceFacts(invoiceOf(hundred, { [name]: money('-10000000.01') }), good()),
      says: 'is -10000000.01, which is above 10,000,000',
      refetch: true,
    }),
  ),
  ...(['sum', 'sumVat', 'sumTotal'] as const).map(
    (name): Case => ({
      code: 'amount_implausible',
      what: `an invoice with a row whose ${name} is 10,000,000.0001 (P6)`,
      facts: invoiceFacts(invoiceOf(hundred), [{ ...good()[0]!, [name]: money('10000000.0001') }]),
      says: 'row 5: ',
      refetch: true,
    }),
  ),
  {
    code: 'amount_implausible',
    what: 'rows that add up, each of 20,000,000 (P6)',
    facts: invoiceFacts(invoiceOf(['0.00', '0.00', '0.00']), [
      rowOf('3000', '20000000.00', '0.00', '20000000.00', { id: 5 }),
      rowOf('3000', '-20000000.00', '0.00', '-20000000.00', { id: 6 }),
    ]),
    says: 'row 5: sum is 20000000, which is above 10,000,000',
    refetch: true,
  },
  {
    code: 'amount_implausible',
    what: 'a posted invoice whose new version is absurd: its entry stays (P6)',
    facts: invoice1001({ totalWithVat: money('1e12') }),
    before: postedBefore(),
    says: 'total_with_vat is 1000000000000',
    refetch: true,
    state: 'posted',
  },
];

const cases: Case[] = [
  {
    code: 'record_too_large',
    what: 'an invoice of which only the small fields were read',
    facts: invoiceFacts(invoiceOf(hundred, { defects: tooLarge }), good()),
    says: 'the record is too large (9 characters)',
  },
  {
    code: 'record_too_large',
    what: 'a row of which only the small fields were read',
    facts: invoiceFacts(invoiceOf(hundred), [{ ...good()[0]!, defects: tooLarge }]),
    says: 'row 5: the record is too large',
  },
  {
    code: 'amount_missing',
    what: 'an invoice without its total',
    facts: invoiceFacts(invoiceOf(hundred, { totalWithVat: null, defects: absent('total_with_vat') }), good()),
    says: 'Invoice A-1001 (id 1): total_with_vat is absent',
  },
  {
    code: 'amount_missing',
    what: 'a row without an amount',
    facts: invoiceFacts(invoiceOf(hundred), [{ ...good()[0]!, sum: null, defects: absent('sum') }]),
    says: 'row 5: sum is absent',
  },
  {
    code: 'amount_missing',
    what: 'a row without an amount that nothing names',
    facts: invoiceFacts(invoiceOf(hundred), oneRow(null, '24.00', '124.00')),
    says: 'lacks an amount',
  },
  {
    code: 'amount_missing',
    what: 'a payment without an amount',
    facts: paymentFacts(paymentOf(0, null)),
    says: 'Payment 50: paid is absent',
  },
  {
    code: 'amount_invalid',
    what: 'a total that is no number',
    facts: invoiceFacts(invoiceOf(hundred, { total: null, defects: noNumber('total') }), good()),
    says: 'total is not a decimal number ("x")',
  },
  {
    code: 'amount_invalid',
    what: 'a prepayment whose amount is no number',
    facts: prepaymentFacts(0, null, { defects: noNumber('paid') }),
    says: 'Prepayment 90: paid is not a decimal number',
  },
  {
    code: 'amount_precision',
    what: 'a tenth of a cent paid',
    facts: paymentFacts(paymentOf(0, '10.005')),
    says: 'paid is 10.005, but EUR has 2 decimals',
  },
  {
    code: 'amount_precision',
    what: 'half a yen',
    facts: prepaymentFacts(0, '10.5'),
    context: { currency: 'JPY', decimals: 0 },
    says: 'paid is 10.5, but JPY has 0 decimals',
  },
  {
    code: 'field_invalid',
    what: 'a client that cannot be read',
    facts: invoice1001({ clientId: null, defects: noReference('client') }),
    says: 'client is not a reference to a record',
  },
  {
    code: 'field_invalid',
    what: 'a payment on an invoice whose client cannot be read: not the cash customer',
    facts: paymentFacts(paymentOf(0, '1'), invoiceOf(hundred, { clientId: null, defects: noReference('client') })),
    says: 'its invoice 1: client is not a reference to a record',
  },
  {
    code: 'foreign_reference',
    what: 'a client of another installation (P6)',
    facts: invoice1001({ clientId: null, defects: foreign('client') }),
    says: 'client names another installation or another resource',
  },
  {
    code: 'foreign_reference',
    what: 'a row that credits one of another installation (P6)',
    facts: invoiceFacts(invoiceOf(hundred), [{ ...good()[0]!, defects: foreign('credited_invoicerow') }]),
    says: 'row 5: credited_invoicerow names',
  },
  {
    code: 'foreign_reference',
    what: 'a payment on an invoice whose client is of another installation: not the cash customer (P6)',
    facts: paymentFacts(paymentOf(0, '1'), invoiceOf(hundred, { clientId: null, defects: foreign('client') })),
    says: 'its invoice 1: client names',
  },
  {
    code: 'foreign_reference',
    what: 'a prepayment of a client of another installation (P6)',
    facts: prepaymentFacts(0, '1', { clientId: null, defects: foreign('client') }),
    says: 'Prepayment 90: client names',
  },
  ...implausible,
  {
    code: 'credit_cycle',
    what: 'a credit note that credits itself (P6)',
    facts: { ...creditNote, creditCircle: [1] },
    says: 'it credits itself',
    refetch: true,
  },
  {
    code: 'credit_cycle',
    what: 'two credit notes that credit each other (P6)',
    facts: { ...creditNote, creditCircle: [1, 2] },
    says: 'in a circle, or in a chain that is too long: 1, 2',
    refetch: true,
  },
  {
    code: 'credit_cycle',
    what: 'a posted credit note whose new version closes a circle: its entry stays (P6)',
    facts: { ...creditNote, creditCircle: [1, 2] },
    before: booksAfter(post(creditNote, nothingBefore, contextOf())),
    says: 'in a circle',
    refetch: true,
    state: 'posted',
  },
  { code: 'date_missing', what: 'an undated invoice', facts: invoice1001({ invoiceDate: null }), says: 'invoice date' },
  {
    code: 'date_missing',
    what: 'an undated payment',
    facts: paymentFacts(paymentOf(0, '1', { dateAdded: null })),
    says: 'date_added',
  },
  {
    code: 'date_missing',
    what: 'an undated prepayment',
    facts: prepaymentFacts(0, '1', { created: null }),
    says: 'created',
  },
  {
    code: 'date_missing',
    what: 'a payment before start_date on an undated invoice',
    facts: paymentFacts(
      paymentOf(0, '1', { dateAdded: '2025-12-31' }),
      invoiceOf(hundred, { invoiceDate: null, status: 0 }),
    ),
    context: start,
    says: 'the date of its invoice',
  },
  {
    code: 'date_invalid',
    what: 'an impossible day',
    facts: invoice1001({ invoiceDate: '2026-02-30' }),
    says: '2026-02-30',
  },
  {
    code: 'date_invalid',
    what: 'an impossible due date',
    facts: invoice1001({ dueDate: '2026-02-30' }),
    says: 'due date',
  },
  {
    code: 'status_unknown',
    what: 'an invoice in status 7',
    facts: invoice1001({ status: 7 }),
    says: 'its status is 7',
  },
  {
    code: 'status_unknown',
    what: 'an invoice without status',
    facts: invoice1001({ status: null }),
    says: 'its status is absent',
  },
  {
    code: 'status_unknown',
    what: 'a lost prepayment',
    facts: prepaymentFacts(0, '1', { status: 'lost' }),
    says: 'its status is lost',
  },
  {
    code: 'client_missing',
    what: "nobody's prepayment",
    facts: prepaymentFacts(0, '1', { clientId: null }),
    says: 'no client',
  },
  {
    code: 'payment_type_unknown',
    what: 'a payment without type',
    facts: paymentFacts(paymentOf(null, '1')),
    says: 'no payment type',
  },
  {
    code: 'payment_type_unknown',
    what: 'a prepayment without type',
    facts: prepaymentFacts(null, '1'),
    says: 'no payment type',
  },
  {
    code: 'voucher_with_vat',
    what: 'a gift card with VAT',
    facts: invoiceFacts(invoiceOf(hundred), [rowOf('2411', '100.00', '24.00', '124.00', { id: 5 })]),
    context: {
      mapping: mappingOf({ revenue_rules: [{ when: { account: '2411' }, role: 'gift_card_liability' }] }),
    },
    says: 'row 5 on account 2411 goes to gift_card_liability, but has 24 VAT',
  },
  {
    code: 'rounding_too_large',
    what: 'a rounding of more than 1.00',
    facts: paymentFacts(paymentOf(3, '1.01')),
    says: 'rounds by 1.01',
  },
  {
    code: 'payment_type_unmapped',
    what: 'a payment of type 13',
    facts: paymentFacts(paymentOf(13, '1')),
    says: 'type 13',
  },
  { code: 'payment_type_unmapped', what: 'a prepayment of type 14', facts: prepaymentFacts(14, '1'), says: 'type 14' },
  {
    code: 'prepayment_type_refused',
    what: 'a prepayment of type 6',
    facts: prepaymentFacts(6, '1'),
    says: 'type is 6',
  },
  {
    code: 'prepayment_type_refused',
    what: 'a prepayment of type 8',
    facts: prepaymentFacts(8, '1'),
    says: 'type is 8',
  },
  {
    code: 'invoice_unknown',
    what: 'the invoice has not been seen',
    facts: paymentFacts(paymentOf(0, '1'), null),
    says: 'its invoice 1 ',
  },
  {
    code: 'invoice_unknown',
    what: 'a payment names no invoice',
    facts: paymentFacts(paymentOf(0, '1', { invoiceId: null }), null),
    says: 'names no invoice',
  },
  {
    code: 'rows_missing',
    what: 'no rows',
    facts: invoiceFacts(invoiceOf(hundred), []),
    says: 'a total of 124',
    refetch: true,
  },
  {
    code: 'rows_stale',
    what: 'old rows',
    facts: invoiceFacts(invoiceOf(hundred), good(), { rowsFresh: false }),
    says: '2026-01-15T09:00:00+02:00',
    refetch: true,
  },
  {
    code: 'totals_disagree',
    what: 'a row is missing',
    facts: invoiceFacts(invoiceOf(hundred), oneRow('90.00', '24.00', '114.00')),
    says: 'the rows add up to 90 net, but the document has 100.00; the rows add up to 114 with VAT',
    refetch: true,
  },
  {
    code: 'totals_disagree',
    what: 'a row that contradicts itself',
    facts: invoiceFacts(invoiceOf(hundred), [
      rowOf('3000', '50.00', '12.00', '62.02', { id: 5 }),
      rowOf('3000', '50.00', '12.00', '61.98', { id: 6 }),
    ]),
    says: 'row 5: 50 + 12 is not 62.02; row 6: 50 + 12 is not 61.98',
    refetch: true,
  },
  {
    code: 'cents_unsettled',
    what: 'a row whose totals are more than a cent below it',
    facts: invoiceFacts(invoiceOf(['25.25', '0.00', '25.24']), oneRow('25.2549', '-0.004', '25.2445')),
    says: 'cannot be rounded to the totals 25.24 net and 0.00 VAT',
    refetch: true,
  },
  {
    code: 'due_sum_disagrees',
    what: 'a payment not seen yet',
    facts: { ...invoice1001({ dueSum: money('81.00') }), payments: [paymentOf(0, '50.00')] },
    says: 'its due_sum is 81, but its total 181 less 1 payment is 131',
    refetch: true,
  },
  {
    code: 'paid_on_voided',
    what: 'a void invoice that is still paid',
    facts: { ...invoice1001({ status: 99 }), payments: [paymentOf(0, '181.00')] },
    says: 'Invoice A-1001 (id 1): 181 is paid on it',
    state: 'voided',
  },
  {
    code: 'paid_on_voided',
    what: 'a gone invoice that is still paid',
    facts: { ...invoice1001(), gone: true, payments: [paymentOf(0, '181.00')] },
    says: '181 is paid on it',
    state: 'gone',
  },
  {
    code: 'overpaid',
    what: 'an invoice paid twice',
    facts: {
      ...invoice1001({ dueSum: money('-181.00') }),
      payments: [paymentOf(0, '181.00'), paymentOf(1, '181.00', { id: 51 })],
    },
    says: 'Invoice A-1001 (id 1): its due_sum is -181 and its total 181, so the payments exceed the total',
  },
  {
    code: 'overpaid',
    what: 'a credit note that was paid as if it were an invoice',
    facts: {
      ...invoiceFacts(
        invoiceOf(['-100.00', '-24.00', '-124.00'], {
          ...{ creditNote: true, originalInvoiceId: 2, dueSum: money('-248.00') },
        }),
        oneRow('-100.00', '-24.00', '-124.00'),
      ),
      payments: [paymentOf(0, '124.00')],
    },
    says: 'its due_sum is -248 and its total -124, so the payments exceed the total',
  },
  {
    code: 'negative_without_original',
    what: 'a negative invoice that is no credit note',
    facts: invoiceFacts(invoiceOf(['-100.00', '-24.00', '-124.00']), oneRow('-100.00', '-24.00', '-124.00')),
    says: 'Invoice A-1001 (id 1): its total is -124, but it names no original',
  },
  {
    code: 'negative_without_original',
    what: 'a credit note of nothing',
    facts: invoiceFacts(
      invoiceOf(['-100.00', '-24.00', '-124.00'], { creditNote: true }),
      oneRow('-100.00', '-24.00', '-124.00'),
    ),
    says: 'Credit note A-1001 (id 1): its total is -124, but it names no original',
  },
  {
    code: 'negative_without_original',
    what: 'a refund of no prepayment',
    facts: prepaymentFacts(7, '-50.00'),
    says: 'Prepayment 90: -50 was paid back, but the refund names no prepayment',
  },
  {
    code: 'vat_rate_disagrees',
    what: 'a row with the VAT of another rate',
    facts: invoiceFacts(invoiceOf(['100.00', '14.00', '114.00']), oneRow('100.00', '14.00', '114.00')),
    says: 'row 5 has 14 VAT on 100, but 24 % of that is 24',
  },
  {
    code: 'collector_disagrees',
    what: 'a collector of more than its members',
    facts: invoiceFacts(invoiceOf(hundred, { consolidatedInvoiceIds: [2] }), [], {
      memberPayments: [paymentOf(6, '100')],
    }),
    says: 'its total is 124, but its members’ consolidation payments add up to 100',
    refetch: true,
  },
  {
    code: 'role_unmapped',
    what: 'no receivable',
    facts: invoice1001(),
    context: { mapping: mappingOf({ roles: {} }) },
    says: 'roles.receivable',
  },
  {
    code: 'role_unmapped',
    what: 'an emptied card account',
    facts: paymentFacts(paymentOf(0, '1')),
    context: { mapping: mappingOf({ roles: { receivable: '1700', card_clearing: '' } }) },
    says: 'roles.card_clearing',
  },
  {
    code: 'account_unmapped',
    what: 'two revenue accounts unmapped, both told',
    facts: invoice1001(),
    context: { mapping: mappingOf({ revenue: { '9': '9' } }) },
    says: 'revenue.3000; the mapping has no account for revenue.3010',
  },
  {
    code: 'account_unmapped',
    what: 'a row without account',
    facts: invoiceFacts(invoiceOf(hundred), [{ ...good()[0]!, accountNumber: '' }]),
    says: 'no revenue account',
  },
  {
    code: 'vat_group_unmapped',
    what: 'a VAT group that is not in the table',
    facts: invoice1001(),
    context: { mapping: mappingOf({ vat: { VAT24: '2939' } }) },
    says: 'VAT14 at 14 %',
  },
  {
    code: 'cash_customer_unmapped',
    what: 'a counter sale without client',
    facts: invoice1001({ clientId: null, countersale: true }),
    context: { mapping: mappingOf({ cash_customer: null }) },
    says: 'no cash_customer',
  },
  {
    code: 'vat_rate_expired',
    what: 'a rate that is not valid any more',
    facts: invoice1001(),
    context: {
      mapping: mappingOf({
        vat_groups: [
          { rate: 24, kind: 'domestic', to: '2024-08-31' },
          { rate: 14, kind: 'domestic' },
        ],
      }),
    },
    says: 'VAT24 at 24 % is valid until 2024-08-31, but the date of the document for VAT is 2026-01-15',
  },
  {
    code: 'eu_without_vat_number',
    what: 'a sale to an EU company without its VAT number',
    facts: invoiceFacts(invoiceOf(['100.00', '0.00', '100.00']), [
      rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', 'EU') }),
    ]),
    context: { mapping: mappingOf({ vat_groups: [{ group: 'EU', kind: 'eu_services' }] }) },
    says: 'EU at 0 % is of kind eu_services, but the payer has no VAT number',
  },
  {
    code: 'period_locked',
    what: 'a closed period',
    facts: invoice1001(),
    context: { closedThrough: '2026-01-31' },
    says: '2026-02-01',
  },
  {
    code: 'change_held',
    what: 'a change in a closed period',
    facts: invoice1001({}, '3005'),
    before: postedBefore(),
    context: { closedThrough: '2026-01-31' },
    says: '4711/invoice/1/1 stays in force',
    state: 'posted',
  },
  {
    code: 'prepayment_unmatched',
    what: 'a prepayment used, nobody knows whose',
    facts: paymentFacts(paymentOf(8, '10.00'), undefined, { prepayment: { clientId: 7, prepaymentIds: [] } }),
    says: 'client:7',
  },
  {
    code: 'vat_due_unknown',
    what: 'a payment of an invoice from before start_date whose VAT is unknown',
    facts: paymentFacts(paymentOf(0, '10.00'), invoice1001().invoice, { due: dueWithoutRows() }),
    context: onPayment(),
    says: 'the VAT of invoice A-1001',
  },
  {
    code: 'payer_name_changed',
    what: 'a payer who is called otherwise',
    facts: invoice1001({ payer: { name: 'B', vatNumber: null, countryCode: 'FI' } }),
    before: postedBefore(),
    says: '4711/invoice/1/1',
  },
  {
    code: 'opening_changed',
    what: 'an invoice from before start_date that changed since',
    facts: invoice1001({ invoiceDate: '2025-12-31', created: '2025-12-31' }),
    context: start,
    says: 'changed on 2026-01-15',
    state: 'before_start',
  },
  {
    code: 'dated_before_start',
    what: 'an invoice made since start_date and dated before it',
    facts: invoice1001({ invoiceDate: '2025-12-31' }),
    context: start,
    says: 'dated 2025-12-31, before start_date 2026-01-01, but was recorded on 2026-01-15',
  },
  {
    code: 'date_in_future',
    what: 'an invoice of the day after tomorrow',
    facts: invoice1001({ invoiceDate: '2026-01-17' }),
    context: { today: '2026-01-15' },
    says: 'dated 2026-01-17, but today is 2026-01-15',
  },
  {
    code: 'date_implausible',
    what: 'an invoice dated more than two years before it was made',
    facts: invoice1001({ invoiceDate: '2024-01-14' }),
    says: 'dated 2024-01-14, more than 24 months before it was recorded on 2026-01-15',
  },
];

describe('each problem, reproduced', () => {
  test.each(cases)('$code: $what', ({ code, facts, context, before, says, refetch, state }) => {
    const decision = post(facts, before ?? nothingBefore, contextOf(context));
    const { holds } = problemCatalogue[code];
    const found = holds ? decision.problem : decision.reports.find((report) => report.code === code);
    expect(found).toMatchObject({ code, message: expect.stringContaining(says) });
    expect(decision.refetch).toBe(refetch ?? false);
    expect(decision.state).toBe(state ?? (holds ? 'held' : 'posted'));
    if (holds) expect(decision.entries).toEqual([]);
  });

  test('the table above leaves out none but those that posting does not find or cannot make', () => {
    const reproduced = new Set<string>(cases.map(({ code }) => code));
    expect(Object.keys(problemCatalogue).filter((code) => !reproduced.has(code))).toEqual([
      'record_unusable',
      'foreign_record',
      'entry_unbalanced',
      'contradiction',
      // test/posting/late.test.ts and test/posting/absence.test.ts test these codes.
      'left_as_posted',
      'missing_in_source',
      'source_shrank',
      'internal_error',
      'changed_unseen',
    ]);
  });

  test.each([
    ['paid twice', { dueSum: money('-181.00') }, 'overpaid', '181'],
    ['no due sum for a payment', { dueSum: money('181.00') }, 'due_sum_disagrees', '181'],
    ['void', { status: 99 }, 'paid_on_voided', '181'],
  ])('a remark names the amount that it is about: %s', (_, changes, code, amount) => {
    const facts = { ...invoice1001(changes), payments: [paymentOf(0, '181.00')] };
    const { reports } = post(facts, nothingBefore, contextOf());
    expect(reports.find((each) => each.code === code)?.amount?.toFixed()).toBe(amount);
  });

  test.each([
    ['a void invoice without payments', []],
    ['a cancelled payment', [paymentOf(0, '181.00'), paymentOf(0, '-181.00', { id: 51 })]],
  ])('paid_on_voided is not made for %s', (_, payments) => {
    expect(post({ ...invoice1001({ status: 99 }), payments }, nothingBefore, contextOf()).reports).toEqual([]);
  });

  test("totals_disagree: the document's own totals more than a minor unit apart", () => {
    const findings = new Findings({ kind: 'invoice', id: 1 }, 'Invoice 1');
    const row = {
      ...rowOf('3000', '1.00', '0.24', '1.26'),
      sum: money('1'),
      sumVat: money('0.24'),
      sumTotal: money('1.26'),
    };
    proveTotals({ total: money('1'), totalVat: money('0.24'), totalWithVat: money('1.26') }, [row], 2, findings);
    expect(findings.holding.map(({ message }) => message)).toContain('the document’s 1.00 net + 0.24 VAT is not 1.26');
  });

  test('a formerly posted document is never reversed because of a doubt', () => {
    const decision = post({ ...invoice1001(), rowsFresh: false }, postedBefore(), contextOf());
    expect(decision).toMatchObject({ state: 'posted', entries: [], problem: { code: 'rows_stale' }, refetch: true });
  });
});

test.each(Object.entries({ ...problemCatalogue, ...erpProblemCatalogue }))(
  'what to do about %s: whoever changes the mapping file is told what takes it into use',
  (_, { todo }) => {
    // A daemon keeps the mapping that it has loaded until a command applies another mapping.
    if (/(Add|Set|Say|raise|change|Correct `erp|out of the rule).*mapping/.test(todo))
      expect(todo).toContain('`vetledger sync`');
  },
);

describe('proofs that hold', () => {
  test.each(['10000000.00', '-10000000.00'])('P6: a payment and a prepayment of %s', (paid) => {
    for (const facts of [paymentFacts(paymentOf(0, paid)), prepaymentFacts(0, paid)]) {
      expect(judge(facts, contextOf())).toMatchObject({ state: 'posted', refetch: false });
    }
  });

  test.each([
    ['one minor unit between the totals', ['25.25', '3.54', '28.78'], ['25.25', '3.535', '28.785'], 2],
    ['half-even', ['0.12', '0.00', '0.12'], ['0.125', '0', '0.125'], 2],
    ['half-even, negative', ['-0.12', '0.00', '-0.12'], ['-0.125', '0', '-0.125'], 2],
    ['no decimals', ['100', '24', '124'], ['100.4', '24.1', '124.5'], 0],
    ['three decimals', ['10.005', '2.401', '12.406'], ['10.005', '2.4012', '12.4062'], 3],
  ] as [string, Totals, Totals, number][])('P1: %s', (_, totals, row, decimals) => {
    const rate = { vatGroup: null };
    const invoice = invoiceOf(totals, { creditNote: true, originalInvoiceId: 2 });
    const facts = invoiceFacts(invoice, [rowOf('3000', ...row, rate)]);
    expect(judge(facts, contextOf({ decimals }))).toMatchObject({ state: 'posted', reports: [], refetch: false });
  });

  test.each([
    ['no due_sum', null, ['50.00']],
    ['paid in parts, one cancelled', '131.00', ['50.00', '50.00', '-50.00']],
    ['an unreadable payment says nothing', '0.00', [null]],
  ])('P3: %s', (_, dueSum, paid) => {
    const payments = paid.map((amount) => paymentOf(0, amount));
    const facts = { ...invoice1001({ dueSum: dueSum === null ? null : money(dueSum) }), payments };
    expect(judge(facts, contextOf())).toMatchObject({ state: 'posted', reports: [], refetch: false });
  });

  const creditOf57 = (changes: Partial<InvoiceRecord>) =>
    invoiceFacts(invoiceOf(['-50.00', '-7.00', '-57.00'], { creditNote: true, originalInvoiceId: 2, ...changes }), [
      rowOf('3010', '-50.00', '-7.00', '-57.00', { vatGroup: vatGroup('14') }),
    ]);
  test.each<[string, DocumentFacts]>([
    ['nothing due', { ...invoice1001({ dueSum: money('0') }), payments: [paymentOf(0, '181.00')] }],
    ['a credit note that nobody has paid back', creditOf57({ dueSum: money('-57.00') })],
    [
      'a credit note paid back in part',
      { ...creditOf57({ dueSum: money('-17.00') }), payments: [paymentOf(0, '-40.00')] },
    ],
    ['a refund that names its prepayment', prepaymentFacts(7, '-50.00', { refundsId: 89 })],
  ])('neither overpaid nor without original: %s', (_, facts) => {
    expect(judge(facts, contextOf())).toMatchObject({ state: 'posted', reports: [] });
  });

  test('a VAT one cent from its rate is not reported', () => {
    const facts = invoiceFacts(invoiceOf(['100.00', '24.01', '124.01']), oneRow('100.00', '24.01', '124.01'));
    expect(judge(facts, contextOf()).reports).toEqual([]);
  });
});
