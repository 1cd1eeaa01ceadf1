import { describe, expect, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import type { DocumentFacts, PostedBefore } from '../../src/posting/types.ts';
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
} from './support.ts';

const closed = contextOf({ closedThrough: '2026-01-31' });
const posted = (facts: DocumentFacts): PostedBefore => booksAfter(post(facts, nothingBefore, contextOf()));

/** The amounts that are not posted, as `181.00 VAT 31.00`, with changes and effects, one per line. */
function outsideOf(facts: DocumentFacts, before = nothingBefore, context = closed): string[] {
  const { outside, problem } = post(facts, before, context);
  if (!outside) return [];
  const { amount, vat, changes, effect } = outside;
  return [
    `${problem?.code} ${amount?.toFixed(2) ?? 'unknown'}${vat === null ? '' : ` VAT ${vat.toFixed(2)}`}`,
    ...changes.map((change) => `${change.field}: ${change.old ?? 'none'} → ${change.new ?? 'none'}`),
    ...effect.map((each) => `${each.account} ${each.amount.toFixed(2)}`),
  ];
}

describe('what is not in the books', () => {
  const credit = () =>
    invoiceFacts(invoiceOf(['-50.00', '-7.00', '-57.00'], { creditNote: true }), [
      rowOf('3010', '-50.00', '-7.00', '-57.00', { vatGroup: { name: 'VAT14', rate: money('14'), account: null } }),
    ]);
  const noRoles = contextOf({ mapping: mappingOf({ roles: {} }) });
  test.each<[name: string, expected: string[], facts: DocumentFacts, before?: PostedBefore, context?: typeof closed]>([
    ['nothing, of what is posted', [], invoice1001(), nothingBefore, contextOf()],
    ['an invoice in a closed period', ['period_locked 181.00 VAT 31.00'], invoice1001()],
    ['a credit note', ['period_locked -57.00 VAT -7.00'], credit()],
    ['a payment', ['period_locked 40.00'], paymentFacts(paymentOf(0, '40.00'))],
    ['a refund of a prepayment', ['period_locked -5.00'], prepaymentFacts(1, '-5.00')],
    ['one that no mapping takes', ['role_unmapped 181.00 VAT 31.00'], invoice1001(), nothingBefore, noRoles],
    [
      'an amount that cannot be read',
      ['amount_missing unknown VAT 31.00'],
      invoice1001({ totalWithVat: null }),
      nothingBefore,
      contextOf(),
    ],
    [
      'a row on another account: the amounts are the same',
      [
        'change_held 0.00 VAT 0.00',
        'net on 3000 (SURG, VAT24): 100.00 → none',
        'net on 3005 (SURG, VAT24): none → 100.00',
        '3000 100.00',
        '3005 -100.00',
      ],
      invoice1001({}, '3005'),
      posted(invoice1001()),
    ],
    [
      'void',
      [
        'change_held -181.00 VAT -31.00',
        'state: posted → voided',
        '1700 -181.00',
        '3000 100.00',
        '3010 50.00',
        'vat14 7.00',
        'vat24 24.00',
      ],
      invoice1001({ status: 99 }),
      posted(invoice1001()),
    ],
    [
      'another payer, department, due date',
      [
        'change_held 0.00 VAT 0.00',
        'client: 7 → 8',
        'VAT number: none → FI123',
        'department: 11 → 12',
        'due date: 2026-01-29 → 2026-02-28',
      ],
      invoice1001({
        clientId: 8,
        payer: { name: 'Other', vatNumber: 'FI123', countryCode: 'FI' },
        departmentId: 12,
        dueDate: '2026-02-28',
      }),
      posted(invoice1001()),
    ],
    [
      'totals that contradict the rows: the difference, and no changes that can be told',
      ['totals_disagree 10.00 VAT 0.00'],
      invoice1001({ totalWithVat: money('191.00') }),
      posted(invoice1001()),
    ],
    [
      'a payment of another amount and type',
      [
        'change_held -10.00',
        'payment type: 0 → 1',
        'amount: 100.00 → 90.00',
        '1700 10.00',
        '1900 90.00',
        '1920 -100.00',
      ],
      paymentFacts(paymentOf(1, '90.00')),
      posted(paymentFacts(paymentOf(0, '100.00'))),
    ],
    [
      'a prepayment that failed after all',
      ['change_held -9.00', 'state: posted → not money', '1900 -9.00', '2400 9.00'],
      prepaymentFacts(1, '9.00', { status: 'failed' }),
      posted(prepaymentFacts(1, '9.00')),
    ],
  ])('%s', (_, expected, facts, before, context) => {
    expect(outsideOf(facts, before, context)).toEqual(expected);
  });

  test.each([
    ['VAT 25.5 %', '25.5', 'VAT 25.5 %'],
    ['ALV 25,5 %', '25.5', 'ALV 25,5 %'],
    ['VAT 25.5 %', '5.5', 'VAT 25.5 % 5.5 %'],
    ['VAT 14 %', '4', 'VAT 14 % 4 %'],
    ['Standard', '25.5', 'Standard 25.5 %'],
  ])('a VAT group %s at %s is told as %s: its rate once', (name, rate, told) => {
    const of = (net: string) =>
      invoiceFacts(invoiceOf([net, '0.00', net]), [
        rowOf('3000', net, '0.00', net, { vatGroup: { name, rate: money(rate), account: null } }),
      ]);
    const lines = outsideOf(of('2.00'), posted(of('1.00')));
    expect(lines).toContain(`net on 3000 (${told}): 1.00 → 2.00`);
  });

  test('the message says the same, and bounds it', () => {
    const { problem } = post(invoice1001({}, '3005'), posted(invoice1001()), closed);
    expect(problem?.message).toBe(
      'Invoice A-1001: changed in the source (net on 3000 (SURG, VAT24) 100.00 → none, net on 3005 (SURG, VAT24) none → 100.00), but 2026-01-15 is closed; 4711/invoice/1/1 stays in force. The correction would change 3000 +100.00, 3005 -100.00. The first open day is 2026-02-01',
    );
    const rows = (prefix: string) =>
      Array.from({ length: 30 }, (_, n) => rowOf(`${prefix}${n}`, '1.00', '0.00', '1.00', { vatGroup: null }));
    const facts = (prefix: string) => invoiceFacts(invoiceOf(['30.00', '0.00', '30.00']), rows(prefix));
    const long = post(facts('5'), posted(facts('4')), closed).problem?.message;
    expect(long).toMatch(/, 52 more\), but 2026-01-15 is closed/);
  });

  test('all that a document lacks in the mapping is reported together, as its causes', () => {
    const mapping = mappingOf({ roles: {}, revenue: { '3000': '3000' }, vat: { VAT24: 'vat24' } });
    const { problem } = post(invoice1001(), nothingBefore, contextOf({ mapping }));
    const causes = [
      'the mapping has no account for roles.receivable',
      'the mapping has no account for revenue.3010',
      'the mapping has no VAT account for VAT group VAT14 at 14 %',
    ];
    expect(problem).toEqual({
      code: 'role_unmapped',
      document: { kind: 'invoice', id: 1 },
      message: `Invoice A-1001 (id 1): ${causes.join('; ')}`,
      causes,
    });
    const payment = post(paymentFacts(paymentOf(0, '1.00')), nothingBefore, contextOf({ mapping })).problem;
    expect(payment?.causes).toEqual([
      'the mapping has no account for roles.card_clearing',
      'the mapping has no account for roles.receivable',
    ]);
  });
});
