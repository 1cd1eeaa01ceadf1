import { expect, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import type { DocumentFacts, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import { accountsByRole } from '../support/accounts.ts';
import {
  balances,
  booksAfter,
  contextOf,
  invoice1001,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
  render,
  rowOf,
  signedAmount,
  vatGroup,
} from './support.ts';

// The worked examples of ACCOUNTING by number. The expected texts are written by hand.

function posted(facts: DocumentFacts, before: PostedBefore = nothingBefore, context: PostingContext = contextOf()) {
  return post(facts, before, context).entries;
}

const entry1001 = `
2026-01-15 Invoice A-1001
    1700  181.00
    3000  [SURG, VAT24 24%]  -100.00
    3010  [VAT14 14%]  -50.00
    vat14  [VAT14 14%, base 50]  -7.00
    vat24  [VAT24 24%, base 100]  -24.00`;

test('1: an invoice with two VAT groups and a dimension', () => {
  expect(`\n${render(posted(invoice1001()))}`).toBe(entry1001);
});

const thirds = (accounts: string[]) => {
  const rows = accounts.map((account, index) => rowOf(account, '33.3333', '8.0000', '41.3333', { id: 201 + index }));
  return invoiceFacts(invoiceOf(['100.00', '24.00', '124.00']), rows);
};

test('2: cents go to the largest remainders, ties to the lowest row', () => {
  expect(render(posted(thirds(['A', 'B', 'C'])))).toBe(
    `2026-01-15 Invoice A-1001
    1700  124.00
    A  [VAT24 24%]  -33.34
    B  [VAT24 24%]  -33.33
    C  [VAT24 24%]  -33.33
    vat24  [VAT24 24%, base 100]  -24.00`,
  );
  expect(render(posted(thirds(['A', 'B', 'B'])))).toBe(
    `2026-01-15 Invoice A-1001
    1700  124.00
    A  [VAT24 24%]  -33.33
    B  [VAT24 24%]  -66.67
    vat24  [VAT24 24%, base 100]  -24.00`,
  );
});

test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
  '2: its full credit note undoes it exactly with rows in the order %j',
  (order) => {
    const invoice = thirds(['A', 'B', 'C']);
    const credit = invoiceFacts(
      invoiceOf(['-100.00', '-24.00', '-124.00'], { id: 2, number: '1002', creditNote: true, originalInvoiceId: 1 }),
      order.map((original, index) =>
        rowOf(['A', 'B', 'C'][original]!, '-33.3333', '-8.0000', '-41.3333', {
          id: 301 + index,
          creditedRowId: 201 + original,
        }),
      ),
    );
    const entries = [...posted(invoice), ...posted(credit)];
    expect(entries).toHaveLength(2);
    expect(balances(entries)).toEqual({});
    expect(entries[1]).toMatchObject({
      original: { kind: 'invoice', id: 1 },
      description: 'Credit note A-1002 of invoice id 1',
    });
  },
);

test('a credit note names its original by the number printed on it', () => {
  const row = rowOf('A', '-100.00', '-24.00', '-124.00');
  const credit = { id: 2, number: '1002', creditNote: true, originalInvoiceId: 1 };
  const facts = invoiceFacts(invoiceOf(['-100.00', '-24.00', '-124.00'], credit), [row]);
  const named = { ...facts, original: invoiceOf(['100.00', '24.00', '124.00']) };
  expect(posted(named)[0]?.description).toBe('Credit note A-1002 of invoice A-1001');
});

const example3 = () => [
  ...posted(paymentFacts(paymentOf(0, '100.00'))),
  ...posted(paymentFacts(paymentOf(8, '81.00', { id: 51 }))),
];

test('3: paid by card, the rest from a prepayment', () => {
  expect(render(example3())).toBe(
    `2026-01-20 Payment 50 on invoice A-1001
    1700  [type 0]  -100.00
    1920  [type 0]  100.00
2026-01-20 Payment 51 on invoice A-1001
    1700  [type 8]  -81.00
    2400  [type 8]  81.00`,
  );
});

test('4: the card payment cancelled', () => {
  expect(render(posted(paymentFacts(paymentOf(0, '-100.00', { id: 52 }))))).toBe(
    `2026-01-20 Cancelled or refunded payment 52 on invoice A-1001
    1700  [type 0]  100.00
    1920  [type 0]  -100.00`,
  );
});

test.each([
  [3, '0.02', 'Cash rounding 50'],
  [3, '-0.02', 'Cash rounding 50'],
  [6, '70.00', 'Consolidation 50'],
  [6, '-70.00', 'Consolidation 50'],
  [8, '81.00', 'Payment 50'],
  [8, '-81.00', 'Cancelled or refunded payment 50'],
  [12, '57.00', 'Credit settlement 50'],
  [12, '-57.00', 'Credit settlement 50'],
])('the title of a payment of type %i and %s', (type, paid, title) => {
  const [entry] = posted(paymentFacts(paymentOf(type, paid)));
  expect(entry?.description).toBe(`${title} on invoice A-1001`);
});

test('5: a prepayment by mobile and the refund of its rest; with example 3 nothing is left', () => {
  const entries = [
    ...posted(prepaymentFacts(7, '200.00')),
    ...posted(prepaymentFacts(7, '-119.00', { id: 91, refundsId: 90, created: '2026-02-01T08:00:00+02:00' })),
  ];
  expect(render(entries)).toBe(
    `2026-01-10 Prepayment 90
    1921  [type 7]  200.00
    2400  [type 7]  -200.00
2026-02-01 Refund 91 of prepayment 90
    1921  [type 7]  -119.00
    2400  [type 7]  119.00`,
  );
  const everything = [...entries, ...example3()];
  const liability = everything.flatMap(({ lines }) => lines).filter(({ account }) => account === '2400');
  expect(balances(everything)).not.toHaveProperty('2400');
  expect(new Set(liability.map(({ party }) => JSON.stringify(party))).size).toBe(1);
});

test('14 without VAT: a prepayment of client A used on the invoice of payer B; the payer becomes C later', () => {
  const used = (payer: number, prepayment: { clientId: number | null; prepaymentIds: number[] }) =>
    paymentFacts(paymentOf(8, '119.00'), invoice1001({ clientId: payer }).invoice, { prepayment });
  const withParty = (entries: ReturnType<typeof posted>) =>
    entries.flatMap(({ reason, lines }) =>
      lines.map((line) => `${reason}: ${line.account} [${line.party?.code}] ${signedAmount(line).toFixed(2)}`),
    );
  const ofA = { clientId: 1, prepaymentIds: [90] };
  const first = post(used(2, ofA), nothingBefore, contextOf());
  expect(withParty(first.entries)).toEqual(['posted: 2400 [client:1] 119.00', 'posted: 1700 [client:2] -119.00']);
  expect(first.reports).toEqual([]);
  const changed = post(used(3, ofA), booksAfter(first), contextOf());
  expect(withParty(changed.entries)).toEqual([
    'source_changed: 2400 [client:1] -119.00',
    'source_changed: 1700 [client:2] 119.00',
    'source_changed: 2400 [client:1] 119.00',
    'source_changed: 1700 [client:3] -119.00',
  ]);

  // Without a match, the payment is posted under the invoice's client, with a remark, until the match is known.
  const unmatched = post(used(2, { clientId: 2, prepaymentIds: [] }), nothingBefore, contextOf());
  expect(withParty(unmatched.entries)).toEqual(['posted: 2400 [client:2] 119.00', 'posted: 1700 [client:2] -119.00']);
  expect(unmatched.reports.map(({ code }) => code)).toEqual(['prepayment_unmatched']);
  const payerChanged = post(used(3, { clientId: 2, prepaymentIds: [] }), booksAfter(unmatched), contextOf());
  expect(withParty(payerChanged.entries).slice(2)).toEqual([
    'source_changed: 2400 [client:2] 119.00',
    'source_changed: 1700 [client:3] -119.00',
  ]);
  const matched = post(used(2, ofA), booksAfter(unmatched), contextOf());
  expect(matched.reports).toEqual([]);
  expect(withParty(matched.entries)).toEqual([
    'prepayment_matched: 2400 [client:2] -119.00',
    'prepayment_matched: 1700 [client:2] 119.00',
    'prepayment_matched: 2400 [client:1] 119.00',
    'prepayment_matched: 1700 [client:2] -119.00',
  ]);
  // A match that confirms the posted client changes nothing.
  const confirmed = post(used(2, { clientId: 2, prepaymentIds: [91] }), booksAfter(unmatched), contextOf());
  expect(confirmed).toMatchObject({ entries: [], reports: [], problem: null });
  expect(post(used(2, ofA), booksAfter(first), contextOf()).entries).toEqual([]);
});

test('a use on a counter sale stands under the cash customer until it is known whose prepayment it was', () => {
  const counter = invoice1001({ clientId: null, countersale: true }).invoice;
  const used = (prepayment: { clientId: number | null; prepaymentIds: number[] }) =>
    paymentFacts(paymentOf(8, '119.00'), counter, { prepayment });
  const unmatched = post(used({ clientId: null, prepaymentIds: [] }), nothingBefore, contextOf());
  const matched = post(used({ clientId: 1, prepaymentIds: [90] }), booksAfter(unmatched), contextOf());
  expect(
    [...unmatched.entries, ...matched.entries].flatMap(({ reason, lines }) =>
      lines.map((line) => `${reason}: ${line.account} [${line.party?.code}] ${signedAmount(line).toFixed(2)}`),
    ),
  ).toEqual([
    'posted: 2400 [CASH] 119.00',
    'posted: 1700 [CASH] -119.00',
    'prepayment_matched: 2400 [CASH] -119.00',
    'prepayment_matched: 1700 [CASH] 119.00',
    'prepayment_matched: 2400 [client:1] 119.00',
    'prepayment_matched: 1700 [CASH] -119.00',
  ]);
});

test('a linked refund takes the client of its original', () => {
  const refund = prepaymentFacts(7, '-119.00', { id: 91, refundsId: 90, clientId: 8 });
  const parties = (facts: typeof refund) => posted(facts).flatMap(({ lines }) => lines.map(({ party }) => party?.code));
  expect(parties({ ...refund, originalClientId: 7 })).toEqual(['client:7', 'client:7']);
  expect(parties({ ...refund, originalClientId: null })).toEqual(['client:8', 'client:8']);
});

test('6: a partial credit, and the credit note of that credit note', () => {
  const credit = (sign: '' | '-', id: number, original: number) =>
    invoiceFacts(
      invoiceOf([`${sign}50.00`, `${sign}7.00`, `${sign}57.00`], {
        id,
        number: String(1000 + id),
        creditNote: true,
        originalInvoiceId: original,
      }),
      [rowOf('3010', `${sign}50.00`, `${sign}7.00`, `${sign}57.00`, { vatGroup: vatGroup('14') })],
    );
  expect(render([...posted(credit('-', 2, 1)), ...posted(credit('', 3, 2))])).toBe(
    `2026-01-15 Credit note A-1002 of invoice id 1
    1700  -57.00
    3010  [VAT14 14%]  50.00
    vat14  [VAT14 14%, base 50]  7.00
2026-01-15 Credit note A-1003 of invoice id 2
    1700  57.00
    3010  [VAT14 14%]  -50.00
    vat14  [VAT14 14%, base 50]  -7.00`,
  );
});

const reversal1001 = (date: string) => `
${date} Reversal of 4711/invoice/1/1: Invoice A-1001, changed in the source
    1700  -181.00
    3000  [SURG, VAT24 24%]  100.00
    3010  [VAT14 14%]  50.00
    vat14  [VAT14 14%, base 50]  7.00
    vat24  [VAT24 24%, base 100]  24.00`;

test("7: a row's account changes while the date is open", () => {
  const before = booksAfter(post(invoice1001(), nothingBefore, contextOf()));
  const decision = post(invoice1001({}, '3005'), before, contextOf());
  expect(`\n${render(decision.entries)}`).toBe(
    reversal1001('2026-01-15') + entry1001.replace('3000', '3005').replace(/^\n/, '\n'),
  );
  expect(decision.entries.map(({ reason }) => reason)).toEqual(['source_changed', 'source_changed']);
  expect(decision.state).toBe('posted');
});

test('7: with January closed and hold, nothing; with redate, both on the first open day', () => {
  const before = booksAfter(post(invoice1001(), nothingBefore, contextOf()));
  const held = post(invoice1001({}, '3005'), before, contextOf({ closedThrough: '2026-01-31' }));
  expect(held).toMatchObject({ state: 'posted', entries: [], problem: { code: 'change_held' } });

  const mapping = mappingOf({ policies: { locked_period: 'redate' } });
  const moved = post(invoice1001({}, '3005'), before, contextOf({ closedThrough: '2026-01-31', mapping }));
  const again = entry1001.replace('3000', '3005').replace('2026-01-15', '2026-02-01');
  expect(`\n${render(moved.entries)}`).toBe(reversal1001('2026-02-01') + again);
  expect(moved.entries.map(({ documentDate }) => documentDate)).toEqual(['2026-01-15', '2026-01-15']);
});

test('8: totals rounded apart are law', () => {
  const facts = invoiceFacts(invoiceOf(['25.25', '3.54', '28.78']), [
    rowOf('3000', '25.25', '3.535', '28.785', { vatGroup: vatGroup('14') }),
  ]);
  expect(render(posted(facts))).toBe(
    `2026-01-15 Invoice A-1001
    1700  28.78
    3000  [VAT14 14%]  -25.24
    vat14  [VAT14 14%, base 25.24]  -3.54`,
  );
});

test('9: an invoice part paid and then voided leaves its payment in the books', () => {
  const facts = (status: number) =>
    invoiceFacts(invoiceOf(['100.00', '0.00', '100.00'], { status }), [
      rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0') }),
    ]);
  const first = post(facts(3), nothingBefore, contextOf());
  const card = posted(paymentFacts(paymentOf(0, '40.00'), facts(3).invoice));
  const last = post(facts(99), booksAfter(first), contextOf());
  expect(last).toMatchObject({ state: 'reversed', entries: [{ reason: 'voided', reverses: '4711/invoice/1/1' }] });
  expect(balances([...first.entries, ...card, ...last.entries])).toEqual({ '1700': '-40.00', '1920': '40.00' });
});

test('10: an EU company at 0 %: the base and the VAT number reach the VAT return by the revenue line', () => {
  const payer = { name: 'Saaren Lypsy', vatNumber: 'EE100200300', countryCode: 'EE' };
  const entries = posted(
    invoiceFacts(invoiceOf(['100.00', '0.00', '100.00'], { payer }), [
      rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', 'EU sales') }),
    ]),
  );
  expect(render(entries)).toBe(
    `2026-01-15 Invoice A-1001
    1700  100.00
    3000  [EU sales 0%, base 100]  -100.00`,
  );
  expect(entries[0]!.lines.map(({ party }) => party)).toEqual([
    { code: 'client:7', ...payer },
    { code: 'client:7', ...payer },
  ]);
});

test.each([
  ['120.00', { '1700 of 3': '120.00' }, []],
  ['150.00', { '1700 of 3': '150.00', '1790': '-30.00' }, ['collector_disagrees']],
])('11: two members and their collector of %s', (collected, left, reports) => {
  const zeroRated = (id: number, total: string) =>
    invoiceFacts(invoiceOf([total, '0.00', total], { id }), [
      rowOf('3000', total, '0.00', total, { vatGroup: vatGroup('0') }),
    ]);
  const first = zeroRated(1, '100.00');
  const second = zeroRated(2, '50.00');
  const byCollector = [paymentOf(6, '70.00', { id: 61 }), paymentOf(6, '50.00', { id: 62, invoiceId: 2 })] as const;
  const collector = invoiceFacts(
    invoiceOf([collected, '0.00', collected], { id: 3, consolidatedInvoiceIds: [1, 2] }),
    [],
    {
      memberPayments: [...byCollector],
    },
  );
  const decision = post(collector, nothingBefore, contextOf());
  const entries = [
    ...posted(first),
    ...posted(second),
    ...posted(paymentFacts(paymentOf(0, '30.00', { id: 60 }), first.invoice)),
    ...posted(paymentFacts(byCollector[0], first.invoice)),
    ...posted(paymentFacts(byCollector[1], second.invoice)),
    ...decision.entries,
  ];
  const perInvoice = entries.map((entry) => ({
    ...entry,
    lines: entry.lines.map((line) =>
      line.invoiceId ? { ...line, account: `${line.account} of ${line.invoiceId}` } : line,
    ),
  }));
  expect(balances(perInvoice)).toEqual({ ...left, '1920': '30.00', '3000': '-150.00' });
  expect(decision.reports.map(({ code }) => code)).toEqual(reports);
});

test('12: a gift card is owed, not earned, and redeemed later', () => {
  const mapping = mappingOf({
    revenue_rules: [{ when: { account: '2949' }, role: 'gift_card_liability' }],
    roles: { ...accountsByRole, gift_card_liability: '2949' },
  });
  const sale = invoiceFacts(invoiceOf(['100.00', '0.00', '100.00']), [
    rowOf('2949', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0') }),
  ]);
  const redeemed = paymentFacts(paymentOf(9, '60.00'));
  const entries = [sale, redeemed].flatMap((facts) => posted(facts, nothingBefore, contextOf({ mapping })));
  expect(render(entries)).toBe(
    `2026-01-15 Invoice A-1001
    1700  100.00
    2949  [VAT0 0%]  -100.00
2026-01-20 Payment 50 on invoice A-1001
    1700  [type 9]  -60.00
    2949  [type 9]  60.00`,
  );
  expect(entries.flatMap(({ lines }) => lines.map(({ role }) => role))).not.toContain('revenue');
});
