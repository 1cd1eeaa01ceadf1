import { describe, expect, test } from 'vitest';
import { judge, post } from '../../src/posting/index.ts';
import type { DocumentFacts } from '../../src/posting/types.ts';
import type { PrepaymentRecord } from '../../src/records/types.ts';
import {
  balances,
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
  render,
  rowOf,
  vatGroup,
} from './support.ts';

const linesOf = (...facts: Parameters<typeof judge>) => judge(...facts).entry?.lines ?? [];

describe('states without an entry', () => {
  test.each([
    ['R9 draft', invoice1001({ status: 0 }), 'not_final'],
    ['R9 sent', invoice1001({ status: 1 }), 'not_final'],
    ['R9 open', invoice1001({ status: 2 }), 'not_final'],
    ['R9 invoicing', invoice1001({ status: 4 }), 'not_final'],
    ['R9 an undated draft', invoice1001({ status: 0, invoiceDate: null }), 'not_final'],
    ['R3 first seen as voided', invoice1001({ status: 99 }), 'voided'],
    ['R3 voided and undated', invoice1001({ status: 99, invoiceDate: null }), 'voided'],
    ['gone before it was posted', { ...invoice1001(), gone: true }, 'gone'],
    ['a payment that is gone', paymentFacts(paymentOf(0, '1'), null, { gone: true }), 'gone'],
    ['a prepayment that is gone', prepaymentFacts(0, '1', {}, true), 'gone'],
    ['a payment of nothing', paymentFacts(paymentOf(0, '0.00')), 'nothing_to_post'],
    ['a prepayment of minus zero', prepaymentFacts(0, '-0.0'), 'nothing_to_post'],
    ['an invoice without rows or amounts', invoiceFacts(invoiceOf(['0', '0', '0']), []), 'nothing_to_post'],
    ['zero rows', invoiceFacts(invoiceOf(['0', '0', '0']), [rowOf(null, '0', '-0.0', '0')]), 'nothing_to_post'],
    [
      'a collector of nothing',
      invoiceFacts(invoiceOf(['0', '0', '0'], { consolidatedInvoiceIds: [2] }), []),
      'nothing_to_post',
    ],
    ['R12 pending', prepaymentFacts(0, '1', { status: 'pending' }), 'not_money'],
    ['R12 failed', prepaymentFacts(0, '1', { status: 'failed' }), 'not_money'],
    ['R12 aborted', prepaymentFacts(0, '1', { status: 'aborted' }), 'not_money'],
  ])('%s', (_, facts, state) => {
    expect(post(facts, nothingBefore, contextOf())).toMatchObject({ state, entries: [], problem: null });
  });

  test.each<[PrepaymentRecord['status']]>([[null], ['ready'], ['fully used']])(
    'a prepayment in status %s is money',
    (status) => {
      expect(judge(prepaymentFacts(0, '1', { status }), contextOf()).state).toBe('posted');
    },
  );
});

describe('payment types (R4, R5, R7)', () => {
  test.each([
    [0, '1920'],
    [1, '1900'],
    [2, '1910'],
    [3, '3990'],
    [4, '1922'],
    [5, '2410'],
    [6, '1790'],
    [7, '1921'],
    [8, '2400'],
    [9, '2411'],
    [10, '1715'],
    [11, '1929'],
    [12, '1791'],
    [15, '1710'],
  ])('a payment of type %i: Dr %s, Cr receivable', (type, account) => {
    const mapping = mappingOf({ policies: { rounding_limit: '12.34' } });
    const decision = post(paymentFacts(paymentOf(type, '12.34')), nothingBefore, contextOf({ mapping }));
    expect(balances(decision.entries)).toEqual({ [account]: '12.34', '1700': '-12.34' });
    expect(decision.entries[0]?.lines.map(({ paymentType }) => paymentType)).toEqual([type, type]);
    if (type === 6 || type === 8) return;
    const prepayment = post(prepaymentFacts(type, '12.34'), nothingBefore, contextOf());
    expect(balances(prepayment.entries)).toEqual({ [account]: '12.34', '2400': '-12.34' });
  });

  test('an entry names its rules and mapping lines', () => {
    const told = (type: number, paid: string) =>
      linesOf(paymentFacts(paymentOf(type, paid)), contextOf()).map(({ rule, mappedBy }) => `${rule} ${mappedBy}`);
    expect(told(0, '1')).toEqual(['R4 roles.card_clearing', 'R4 roles.receivable']);
    expect(told(6, '1')).toEqual(['R10 roles.consolidation_clearing', 'R10 roles.receivable']);
    expect(told(8, '1')).toEqual(['R7 roles.prepayment_liability', 'R7 roles.receivable']);
    expect(linesOf(prepaymentFacts(0, '-1'), contextOf()).map(({ rule }) => rule)).toEqual(['R6', 'R6']);
  });

  test('a credit invoice payment nets to zero over invoice and credit note', () => {
    const entries = ['57.00', '-57.00'].flatMap(
      (paid) => post(paymentFacts(paymentOf(12, paid)), nothingBefore, contextOf()).entries,
    );
    expect(balances(entries)).toEqual({});
  });

  test('a department can have its own', () => {
    const mapping = mappingOf({ payment_types: { 1: { departments: { 11: { account: '1901' } } } } });
    expect(linesOf(paymentFacts(paymentOf(1, '1')), contextOf({ mapping }))[0]).toMatchObject({
      account: '1901',
      role: 'cash',
    });
  });

  test.each([
    ['draft', { status: 0 }],
    ['voided', { status: 99 }],
    ['held', { totalWithVat: null }],
  ])('a payment does not wait for its %s invoice', (_, changes) => {
    expect(judge(paymentFacts(paymentOf(0, '1'), invoice1001(changes).invoice), contextOf()).state).toBe('posted');
  });
});

describe('who and where', () => {
  const payer = { name: 'Kivilammen Talli', vatNumber: 'FI01234567', countryCode: 'FI' };
  const client = { code: 'client:7', ...payer };
  const receivable = { documentNumber: 'A-1001', dueDate: '2026-01-29', bankReference: '10016', invoiceId: 1 };
  const nowhere = { documentNumber: null, dueDate: null, bankReference: null, invoiceId: null };

  test('every line of an invoice names party and department, the receivable what it opens, net lines their tags', () => {
    const internal = { account: 'I1', dimension1: 'I2', dimension2: null };
    const row = rowOf('3000', '100.00', '24.00', '124.00', { id: 5, internal, dimensions: ['a', 'b', 'c'] });
    const lines = linesOf(invoiceFacts(invoiceOf(['100.00', '24.00', '124.00'], { payer }), [row]), contextOf());
    const empty = { account: null, dimension1: null, dimension2: null };
    const rate = money('24');
    expect(lines).toMatchObject([
      {
        role: 'receivable',
        side: 'debit',
        party: client,
        departmentId: 11,
        ...receivable,
        vat: null,
        mappedBy: 'roles.receivable',
        rowIds: [],
      },
      {
        role: 'revenue',
        side: 'credit',
        party: client,
        departmentId: 11,
        ...nowhere,
        dimensions: ['a', 'b', 'c'],
        internal,
        vat: { group: 'VAT24', rate, base: null },
        mappedBy: 'revenue.same',
        rowIds: [5],
      },
      {
        role: 'vat',
        side: 'credit',
        party: client,
        departmentId: 11,
        ...nowhere,
        dimensions: [null, null, null],
        internal: empty,
        vat: { group: 'VAT24', rate, base: money('100') },
        mappedBy: 'vat.VAT24',
        rowIds: [5],
      },
    ]);
    expect(new Set(lines.map(({ rule }) => rule))).toEqual(new Set(['R1']));
  });

  test('both lines of a payment take them from its invoice', () => {
    const lines = linesOf(paymentFacts(paymentOf(0, '1'), invoice1001({ payer }).invoice), contextOf());
    expect(lines).toMatchObject([
      { role: 'card_clearing', party: client, departmentId: 11, ...nowhere },
      { role: 'receivable', party: client, departmentId: 11, ...receivable },
    ]);
  });

  test.each([
    [10, 'FINANCE'],
    [15, 'client:7'],
    [0, 'client:7'],
  ])("a payment of type %i names %s beside the invoice's party", (type, code) => {
    const mapping = mappingOf({ counterparties: { financing_receivable: 'FINANCE' } });
    const lines = linesOf(paymentFacts(paymentOf(type, '1')), contextOf({ mapping }));
    expect(lines.map(({ party }) => party?.code)).toEqual([code, 'client:7']);
  });

  test.each([
    ['sent to insurance_receivable names its counterparty', 11, 'insurance_receivable', 'INSURANCE'],
    ['sent away from it names the payer', 15, 'other_clearing', 'client:7'],
  ])('a type %s', (_, type, role, code) => {
    const mapping = mappingOf({
      payment_types: { [type]: { role } },
      counterparties: { insurance_receivable: 'INSURANCE' },
    });
    const lines = linesOf(paymentFacts(paymentOf(type, '1')), contextOf({ mapping }));
    expect(lines.map(({ party }) => party?.code)).toEqual([code, 'client:7']);
    expect(linesOf(prepaymentFacts(type, '1'), contextOf({ mapping })).map(({ party }) => party?.code)).toEqual([
      code,
      'client:7',
    ]);
  });

  test('prepayment lines name the client alone, so that they close per client (R5, R7)', () => {
    const taken = linesOf(prepaymentFacts(7, '1'), contextOf());
    const applied = linesOf(paymentFacts(paymentOf(8, '1'), invoice1001({ payer }).invoice), contextOf());
    const alone = { code: 'client:7', name: null, vatNumber: null, countryCode: null };
    expect(taken.map(({ party }) => party)).toEqual([alone, alone]);
    expect(applied.map(({ party }) => party)).toEqual([alone, client]);
  });

  test('R11: a counter sale without a client is the cash customer', () => {
    const lines = linesOf(invoice1001({ clientId: null, countersale: true }), contextOf());
    expect(new Set(lines.map(({ party }) => party?.code))).toEqual(new Set(['CASH']));
  });

  test.each([
    ['A', '1001', 'A-1001'],
    [null, '1001', '1001'],
    ['A', null, '1'],
    ['A', '99000000001', 'A-99000000001'],
  ])('prefix %s and number %s make %s', (prefix, number, expected) => {
    expect(linesOf(invoice1001({ prefix, number }), contextOf())[0]?.documentNumber).toBe(expected);
  });

  test('without exposed VAT groups the rate alone makes the group', () => {
    const row = rowOf('3000', '100.00', '24.00', '124.00', { vatGroup: null, vatPercentage: money('24.00') });
    const mapping = mappingOf({ vat: { '*': { 24: '2930' } } });
    const { entry } = judge(invoiceFacts(invoiceOf(['100.00', '24.00', '124.00']), [row]), contextOf({ mapping }));
    expect(render([entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  124.00
    2930  [- 24%, base 100]  -24.00
    3000  [- 24%]  -100.00`);
  });

  test('the same VAT group name at two rates is two groups', () => {
    const rows = [
      rowOf('3000', '100.00', '24.00', '124.00', { vatGroup: vatGroup('24', 'General') }),
      rowOf('3000', '100.00', '25.50', '125.50', { vatGroup: vatGroup('25.5', 'General') }),
    ];
    const { entry } = judge(invoiceFacts(invoiceOf(['200.00', '49.50', '249.50']), rows), contextOf());
    expect(render([entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  249.50
    3000  [General 24%]  -100.00
    3000  [General 25.5%]  -100.00
    vat  [General 24%, base 100]  -24.00
    vat  [General 25.5%, base 100]  -25.50`);
  });

  test('negative and zero rows: a discount on its own account stands on the debit side', () => {
    const rows = [
      rowOf('3000', '100.00', '24.00', '124.00'),
      rowOf('3900', '-10.00', '-2.40', '-12.40'),
      rowOf('3100', '0.00', '0.00', '0.00'),
    ];
    const { entry } = judge(invoiceFacts(invoiceOf(['90.00', '21.60', '111.60']), rows), contextOf());
    expect(render([entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  111.60
    3000  [VAT24 24%]  -100.00
    3900  [VAT24 24%]  10.00
    vat24  [VAT24 24%, base 90]  -21.60`);
  });
});

describe('dates', () => {
  test.each([
    ['an evening invoice in UTC keeps its day', '2026-01-15T21:30:00Z', '2026-01-15'],
    ['past midnight in the zone', '2026-01-15T22:30:00Z', '2026-01-16'],
  ])('%s', (_, invoiceDate, date) => {
    expect(judge(invoice1001({ invoiceDate }), contextOf())).toMatchObject({ documentDate: date, entry: { date } });
  });

  test('a date once taken for a payment or prepayment never changes', () => {
    const before = { ...nothingBefore, documentDate: '2026-01-18' };
    expect(post(paymentFacts(paymentOf(0, '1')), before, contextOf()).entries[0]).toMatchObject({
      date: '2026-01-18',
      documentDate: '2026-01-18',
    });
    expect(post(prepaymentFacts(0, '1'), before, contextOf()).entries[0]?.date).toBe('2026-01-18');
    expect(post(invoice1001(), before, contextOf()).entries[0]?.date).toBe('2026-01-15');
  });
});

describe('the cut-over (start_date 2026-01-01)', () => {
  const context = contextOf({ startDate: '2026-01-01' });
  const old = { invoiceDate: '2025-12-15', created: '2025-12-15', modified: '2025-12-20' };
  const oldPayment = { dateAdded: '2025-12-20', modified: '2025-12-20' };
  const reportsOf = (...facts: Parameters<typeof judge>) => judge(...facts).reports.map(({ code }) => code);

  test.each([
    [
      'both after it',
      '2026-01-05',
      {},
      { state: 'posted', entry: { date: '2026-01-05', lines: [{}, { role: 'receivable', account: '1700' }] } },
    ],
    [
      'payment after, invoice before',
      '2026-01-05',
      old,
      { state: 'posted', entry: { date: '2026-01-05', lines: [{}, { role: 'opening_receivable', account: '1709' }] } },
    ],
    [
      'payment before, invoice after',
      '2025-12-20',
      {},
      {
        state: 'posted',
        entry: { date: '2026-01-15', documentDate: '2026-01-15', lines: [{}, { role: 'receivable' }] },
      },
    ],
    ['both before it', '2025-12-20', old, { state: 'before_start', entry: null }],
    ['the day itself is after', '2026-01-01', old, { state: 'posted' }],
    ['after it, on an undated draft', '2026-01-05', { invoiceDate: null, status: 0 }, { state: 'posted' }],
  ])('%s', (_, dateAdded, invoice, expected) => {
    const facts = paymentFacts(paymentOf(0, '1', { dateAdded, modified: dateAdded }), invoice1001(invoice).invoice);
    expect(judge(facts, context)).toMatchObject({ ...expected, reports: [] });
  });

  test.each([
    ['an untouched invoice', old, [], []],
    ['changed since', { ...old, modified: '2026-01-02' }, [], ['opening_changed']],
    ['paid since, which moves `modified`', { ...old, modified: '2026-01-02' }, ['2026-01-02'], []],
    [
      'voided since, though paid',
      { ...old, modified: '2026-01-02', status: 99 },
      ['2026-01-02'],
      ['opening_changed', 'paid_on_voided'],
    ],
    ['paid twice', { ...old, dueSum: money('-181.00') }, [], ['overpaid']],
    ['voided before', { ...old, status: 99 }, [], []],
  ])('%s is before_start', (_, changes, paidOn, reports) => {
    const payments = paidOn.map((dateAdded) => paymentOf(0, '1', { dateAdded, modified: dateAdded }));
    const facts = { ...invoice1001(changes), payments };
    expect(judge(facts, context)).toMatchObject({ state: 'before_start', entry: null });
    expect(reportsOf(facts, context)).toEqual(reports);
  });

  test('a draft dated before it is not final: its date may still move', () => {
    expect(judge(invoice1001({ ...old, status: 0 }), context).state).toBe('not_final');
  });

  test('a payment dated before it but recorded since is reported', () => {
    const facts = paymentFacts(paymentOf(0, '1', { ...oldPayment, modified: '2026-01-03' }), invoice1001(old).invoice);
    expect(reportsOf(facts, context)).toEqual(['opening_changed']);
  });

  test.each([
    ['a final invoice', { ...invoice1001(old), gone: true }, ['opening_changed']],
    ['a voided invoice', { ...invoice1001({ ...old, status: 99 }), gone: true }, []],
    ['a draft', { ...invoice1001({ ...old, status: 0 }), gone: true }, []],
    ['an invoice after it', { ...invoice1001(), gone: true }, []],
    [
      'a payment on an invoice before it',
      paymentFacts(paymentOf(0, '1', oldPayment), invoice1001(old).invoice, { gone: true }),
      ['opening_changed'],
    ],
    [
      'a payment on an invoice after it',
      paymentFacts(paymentOf(0, '1', oldPayment), invoice1001().invoice, { gone: true }),
      [],
    ],
    ['a prepayment', prepaymentFacts(0, '1', { created: '2025-12-15' }, true), ['opening_changed']],
    ['a pending prepayment', prepaymentFacts(0, '1', { created: '2025-12-15', status: 'pending' }, true), []],
  ] as [string, DocumentFacts, string[]][])('%s that is gone', (_, facts, reports) => {
    expect(judge(facts, context)).toMatchObject({ state: 'gone', entry: null, refetch: false });
    expect(reportsOf(facts, context)).toEqual(reports);
  });

  test.each([
    ['since', '2026-01-03', ['opening_changed']],
    ['before', '2025-12-20', []],
  ])('a prepayment of before it that failed %s', (_, modified, reports) => {
    const facts = prepaymentFacts(0, '1', { created: '2025-12-15', status: 'failed', modified });
    expect(judge(facts, context).state).toBe('not_money');
    expect(reportsOf(facts, context)).toEqual(reports);
  });

  test('prepayments', () => {
    expect(judge(prepaymentFacts(0, '1', { created: '2025-12-31T23:59:59+02:00' }), context).state).toBe(
      'before_start',
    );
    expect(judge(prepaymentFacts(0, '1', { created: '2025-12-31T22:00:00Z' }), context).state).toBe('posted');
  });
});
