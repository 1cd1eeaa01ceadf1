import { describe, expect, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import type { DocumentFacts, PostedBefore } from '../../src/posting/types.ts';
import {
  balances,
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

const first = (facts: DocumentFacts): PostedBefore => booksAfter(post(facts, nothingBefore, contextOf()));
const redate = mappingOf({ policies: { locked_period: 'redate' } });

describe('R3: a posted document that is one no longer', () => {
  test.each([
    ['voided', invoice1001(), invoice1001({ status: 99 }), 'voided'],
    ['a draft again', invoice1001(), invoice1001({ status: 0 }), 'not_final_any_more'],
    ['an invoice that is gone', invoice1001(), { ...invoice1001(), gone: true }, 'gone'],
    [
      'a payment that is gone',
      paymentFacts(paymentOf(0, '1')),
      paymentFacts(paymentOf(0, '1'), null, { gone: true }),
      'gone',
    ],
    ['no longer money', prepaymentFacts(0, '1'), prepaymentFacts(0, '1', { status: 'failed' }), 'not_money_any_more'],
    ['a prepayment that is gone', prepaymentFacts(0, '1'), prepaymentFacts(0, '1', {}, true), 'gone'],
    ['nothing left of it', prepaymentFacts(0, '1'), prepaymentFacts(0, '0'), 'source_changed'],
  ] as [string, DocumentFacts, DocumentFacts, string][])('%s', (_, was, is, reason) => {
    const before = first(was);
    const decision = post(is, before, contextOf());
    expect(decision).toMatchObject({
      state: 'reversed',
      problem: null,
      entries: [{ reason, reverses: before.inForce?.id }],
    });
    expect(decision.entries[0]?.date).toBe(before.inForce?.date);
    expect(balances([before.inForce!, ...decision.entries])).toEqual({});

    // The document stays reversed. If the source shows it again, it is posted again.
    const reversed = { ...booksAfter(decision), everPosted: true };
    expect(post(is, reversed, contextOf())).toMatchObject({ state: 'reversed', entries: [] });
    expect(post(was, reversed, contextOf())).toMatchObject({
      state: 'posted',
      entries: [{ reason: 'posted', reverses: null }],
    });
  });

  test('one that moves before start_date is reversed, and belongs to the opening balances', () => {
    const context = contextOf({ startDate: '2026-01-01' });
    // The invoice was also created before the start date, so the opening balance can contain it.
    const moved = invoice1001({ invoiceDate: '2025-12-15', created: '2025-12-15' });
    const decision = post(moved, first(invoice1001()), context);
    expect(decision).toMatchObject({ state: 'before_start', entries: [{ reason: 'source_changed' }] });
    expect(post(moved, { ...booksAfter(decision), everPosted: true }, context).state).toBe('before_start');
  });

  test('a start_date moved over what is posted posts nothing, and is reported', () => {
    const decision = post(invoice1001(), first(invoice1001()), contextOf({ startDate: '2026-02-01' }));
    expect(decision).toMatchObject({ state: 'posted', entries: [], reports: [{ code: 'opening_changed' }] });
  });
});

describe('R8: what is a change', () => {
  const withRow = (...amounts: Parameters<typeof rowOf>) => {
    const facts = invoice1001();
    return { ...facts, rows: [...facts.rows, rowOf(...amounts)] };
  };
  const payment = () => paymentFacts(paymentOf(0, '100.00'));
  const registered = (registerNumber: string | null, vatNumber: string | null = null) =>
    invoice1001({ payer: { name: 'A', vatNumber, registerNumber, countryCode: 'FI' } });
  const ofRegistered = (registerNumber: string) =>
    paymentFacts(paymentOf(0, '100.00'), registered(registerNumber).invoice);
  const changedInvoice = (changes: Parameters<typeof invoice1001>[0]) =>
    paymentFacts(paymentOf(0, '100.00'), invoice1001(changes).invoice);

  test.each([
    ['the date', invoice1001(), invoice1001({ invoiceDate: '2026-01-16' })],
    ['the payer', invoice1001(), invoice1001({ payer: { name: 'B', vatNumber: 'FI1', countryCode: 'FI' } })],
    ['the country', invoice1001(), invoice1001({ payer: { name: 'B', vatNumber: null, countryCode: 'SE' } })],
    ['the register number of a payer without VAT number', registered('1-1'), registered('2-2')],
    ['a register number that is gone', registered('1-1'), registered(null)],
    ['a register number that was not there', registered(null), registered('1-1')],
    ["the register number of a payment's payer", ofRegistered('1-1'), ofRegistered('2-2')],
    ['the department', invoice1001(), invoice1001({ departmentId: 12 })],
    ['the due date', invoice1001(), invoice1001({ dueDate: '2026-02-28' })],
    ['the bank reference', invoice1001(), invoice1001({ bankReference: '2' })],
    ['a revenue account', invoice1001(), invoice1001({}, '3005')],
    ['becoming a collector', invoice1001(), invoice1001({ consolidatedInvoiceIds: [2] })],
    ['becoming a credit note', invoice1001(), invoice1001({ creditNote: true })],
    ["a payment's amount", payment(), paymentFacts(paymentOf(0, '100.01'))],
    ["a payment's type", payment(), paymentFacts(paymentOf(1, '100.00'))],
    ["the payer of a payment's invoice", payment(), changedInvoice({ clientId: 8 })],
    ["a prepayment's amount", prepaymentFacts(0, '1'), prepaymentFacts(0, '2')],
    ["a prepayment's client", prepaymentFacts(0, '1'), prepaymentFacts(0, '1', { clientId: 8 })],
  ] as [string, DocumentFacts, DocumentFacts][])('%s: reversal and new entry', (_, was, is) => {
    const before = first(was);
    const { state, entries } = post(is, before, contextOf());
    expect(state).toBe('posted');
    expect(entries).toMatchObject([
      { reason: 'source_changed', reverses: before.inForce?.id, date: before.inForce?.date },
      { reason: 'source_changed', reverses: null },
    ]);
    expect(balances([before.inForce!, entries[0]!])).toEqual({});
    expect(entries[1]?.inputHash).not.toBe(before.inForce?.inputHash);
  });

  test.each([
    ['the register number beside a VAT number', registered('1-1', 'FI1'), registered('2-2', 'FI1')],
    ['the same one', registered('1-1'), registered('1-1')],
  ])('%s: nothing', (_, was, is) => {
    expect(post(is, first(was), contextOf())).toMatchObject({ state: 'posted', entries: [], problem: null });
  });

  const renumbered = () => {
    const facts = invoice1001();
    return {
      ...facts,
      rows: facts.rows.map((row) => ({ ...row, id: row.id + 1000, name: 'renamed', modified: '2026-02-01' })).reverse(),
    };
  };
  /** Two rows that cancel each other, so the entry has no receivable. */
  const settledAtOnce = (changes: Parameters<typeof invoice1001>[0] = {}): DocumentFacts => ({
    ...invoice1001({ ...changes, total: money('0'), totalVat: money('0'), totalWithVat: money('0') }),
    rows: [rowOf('3010', '47.00', '11.28', '58.28'), rowOf('3020', '-47.00', '-11.28', '-58.28')],
  });
  test.each([
    ['the same facts', invoice1001(), invoice1001()],
    ['the due date of an invoice over nothing', settledAtOnce(), settledAtOnce({ dueDate: '2026-02-28' })],
    ['the bank reference of an invoice over nothing', settledAtOnce(), settledAtOnce({ bankReference: '2' })],
    [
      '`modified` and due_sum',
      invoice1001(),
      { ...invoice1001({ modified: '2026-02-01', dueSum: money('81') }), payments: [paymentOf(0, '100')] },
    ],
    ['row ids, names and order', invoice1001(), renumbered()],
    ['a row of less than half a cent', invoice1001(), withRow('3020', '0.0008', '0.0001', '0.0009')],
    ["a payment's date", payment(), paymentFacts(paymentOf(0, '100.00', { dateAdded: '2026-01-25' }))],
    ["a prepayment's date", prepaymentFacts(0, '1'), prepaymentFacts(0, '1', { created: '2026-01-25' })],
    [
      "a prepayment's use, text and external id",
      prepaymentFacts(0, '1'),
      prepaymentFacts(0, '1', { unusedAmount: money('0'), status: 'fully used', description: 'x', externalId: 'y' }),
    ],
  ] as [string, DocumentFacts, DocumentFacts][])('%s: nothing', (_, was, is) => {
    expect(post(is, first(was), contextOf())).toMatchObject({ state: 'posted', entries: [], problem: null });
  });

  test.each([
    ['an invoice', invoice1001()],
    ['a counter sale', invoice1001({ clientId: null })],
    ['a payment', payment()],
    ['a prepayment', prepaymentFacts(10, '1')],
  ] as [string, DocumentFacts][])('a changed mapping alone posts nothing: %s', (_, facts) => {
    const mapping = mappingOf({
      roles: { receivable: '2', card_clearing: '3', financing_receivable: '4', prepayment_liability: '5' },
      revenue: { '*': '1' },
      vat: { '*': '1' },
      cash_customer: 'OTHER',
      counterparties: { financing_receivable: 'F' },
    });
    expect(post(facts, first(facts), contextOf({ mapping }))).toMatchObject({ state: 'posted', entries: [] });
  });
});

describe('locked periods', () => {
  test.each([
    ['an open date', '2026-01-14', 'hold', '2026-01-15'],
    ['hold', '2026-01-31', 'hold', null],
    ['redate', '2026-01-31', 'redate', '2026-02-01'],
  ])('a new document: %s', (_, closedThrough, policy, date) => {
    const mapping = mappingOf({ policies: { locked_period: policy } });
    const decision = post(invoice1001(), nothingBefore, contextOf({ closedThrough, mapping }));
    expect(decision.entries.map((entry) => [entry.date, entry.documentDate])).toEqual(
      date ? [[date, '2026-01-15']] : [],
    );
    expect(decision).toMatchObject(
      date ? { state: 'posted', problem: null } : { state: 'held', problem: { code: 'period_locked' } },
    );
  });

  test.each([
    ['neither date locked', '2026-01-10', '2026-02-10', ['2026-01-15', '2026-02-10']],
    ['the old date locked: both on the later of the two', '2026-01-31', '2026-02-10', ['2026-02-10', '2026-02-10']],
    ['the new date locked', '2026-01-12', '2026-01-11', ['2026-01-15', '2026-01-15']],
    ['both locked: both on the first open day', '2026-02-28', '2026-02-10', ['2026-03-01', '2026-03-01']],
  ])('a correction with redate: %s', (_, closedThrough, invoiceDate, dates) => {
    const decision = post(
      invoice1001({ invoiceDate }),
      first(invoice1001()),
      contextOf({ closedThrough, mapping: redate }),
    );
    expect(decision.entries.map(({ date }) => date)).toEqual(dates);
    expect(decision.entries.map(({ documentDate }) => documentDate)).toEqual(['2026-01-15', invoiceDate]);
    const held = post(invoice1001({ invoiceDate }), first(invoice1001()), contextOf({ closedThrough }));
    const open = closedThrough === '2026-01-10';
    expect(held).toMatchObject(
      open ? { problem: null } : { state: 'posted', entries: [], problem: { code: 'change_held' } },
    );
  });

  test('a voided document in a closed period', () => {
    const before = first(invoice1001());
    const closed = { closedThrough: '2026-01-31' };
    expect(post(invoice1001({ status: 99 }), before, contextOf(closed))).toMatchObject({
      state: 'posted',
      entries: [],
      problem: { code: 'change_held' },
    });
    const moved = post(invoice1001({ status: 99 }), before, contextOf({ ...closed, mapping: redate }));
    expect(moved).toMatchObject({ state: 'reversed', entries: [{ date: '2026-02-01', documentDate: '2026-01-15' }] });
  });

  test('a re-dated entry is not posted again, and its reversal takes its date', () => {
    const context = contextOf({ closedThrough: '2026-01-31', mapping: redate });
    const before = booksAfter(post(invoice1001(), nothingBefore, context));
    expect(post(invoice1001(), before, context)).toMatchObject({ state: 'posted', entries: [] });
    expect(post(invoice1001({ status: 99 }), before, context).entries).toMatchObject([{ date: '2026-02-01' }]);
  });

  test.each([
    ['not followed', false, 11, null],
    ['followed', true, 11, 'period_locked'],
    ['of another department', true, 12, null],
  ])("the source's lock date, %s", (_, follow_source_lock, department, problem) => {
    const mapping = mappingOf({ policies: { follow_source_lock } });
    const context = contextOf({ mapping, sourceLockDates: new Map([[department, '2026-02-01']]) });
    expect(post(invoice1001(), nothingBefore, context).problem?.code ?? null).toBe(problem);
    expect(post(paymentFacts(paymentOf(0, '1')), nothingBefore, context).problem?.code ?? null).toBe(problem);
  });

  test('a correction over two departments heeds the later of both lock dates', () => {
    const mapping = mappingOf({ policies: { follow_source_lock: true, locked_period: 'redate' } });
    const context = contextOf({
      mapping,
      sourceLockDates: new Map([
        [11, '2026-02-01'],
        [12, '2026-03-01'],
      ]),
    });
    const decision = post(invoice1001({ departmentId: 12 }), first(invoice1001()), context);
    expect(decision.entries.map(({ date }) => date)).toEqual(['2026-03-01', '2026-03-01']);
  });
});

test("another department's lock does not close a date of this one's", () => {
  const mapping = mappingOf({ policies: { follow_source_lock: true } });
  const context = contextOf({ mapping, sourceLockDates: new Map([[12, '2026-02-01']]) });
  const moved = invoice1001({ departmentId: 12, invoiceDate: '2026-02-10' });
  const decision = post(moved, first(invoice1001()), context);
  expect(decision.entries.map(({ date }) => date)).toEqual(['2026-01-15', '2026-02-10']);
  expect(decision.problem).toBeNull();
});

test('each reversal has its own input hash, and a correction of a correction undoes it', () => {
  const accounts = ['3000', '3005', '3000'];
  let before = nothingBefore;
  const entries = accounts.flatMap((account, round) => {
    const decision = post(invoice1001({}, account), before, contextOf());
    before = booksAfter(decision, round * 2 + 1);
    return decision.entries;
  });
  expect(entries).toHaveLength(5);
  expect(new Set(entries.filter(({ reverses }) => reverses !== null).map(({ inputHash }) => inputHash)).size).toBe(2);
  expect(balances(entries)).toEqual(balances([entries[0]!]));
});

test('a held document is posted automatically once its cause is gone', () => {
  const rows = () => [rowOf('3000', '100.00', '24.00', '124.00', { id: 9 })];
  const held = post(invoiceFacts(invoiceOf(['90.00', '24.00', '114.00']), rows()), nothingBefore, contextOf());
  expect(held.state).toBe('held');
  expect(
    post(invoiceFacts(invoiceOf(['100.00', '24.00', '124.00']), rows()), booksAfter(held), contextOf()).state,
  ).toBe('posted');
});
