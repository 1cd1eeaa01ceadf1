import { describe, expect, test } from 'vitest';
import { judge } from '../../src/posting/index.ts';
import { creditChain } from '../../src/posting/originals.ts';
import type { InvoiceRecord } from '../../src/records/types.ts';
import { contextOf, invoiceFacts, invoiceOf, mappingOf, render, rowOf, vatGroup } from './support.ts';

// Remarks of ACCOUNTING "Remarks" about VAT groups, and the effect of their kinds on an entry.

const sections = {
  country: 'FI',
  vat_groups: [
    { rate: 14, kind: 'domestic', from: '2013-01-01', to: '2025-12-31' },
    { group: 'Goods', kind: 'eu_goods' },
    { group: 'Services', kind: 'eu_services' },
    { group: 'Scrap', rate: 0, kind: 'reverse_charge' },
    { group: 'Deposit', kind: 'outside' },
    { rate: 0, kind: 'exempt' },
  ],
};
const mapping = mappingOf(sections);
const greek = mappingOf({ ...sections, country: 'GR' });
const abroad = mappingOf({ ...sections, country: null });

const medicine = (changes: Partial<InvoiceRecord>, originalDate?: string | null) => {
  const sign = changes.creditNote ? '-' : '';
  return invoiceFacts(
    invoiceOf([`${sign}50.00`, `${sign}7.00`, `${sign}57.00`], changes),
    [rowOf('3100', `${sign}50.00`, `${sign}7.00`, `${sign}57.00`, { vatGroup: vatGroup('14') })],
    originalDate === undefined ? {} : { originalDate },
  );
};
const credit = { creditNote: true, originalInvoiceId: 5 };

describe('vat_rate_expired', () => {
  test.each<[string, Partial<InvoiceRecord>, string | null | undefined, boolean]>([
    ['an invoice on the last day', { invoiceDate: '2025-12-31' }, undefined, false],
    ['an invoice the day after', { invoiceDate: '2026-01-01' }, undefined, true],
    ['an invoice in the evening of the last day in UTC', { invoiceDate: '2025-12-31T22:30:00Z' }, undefined, true],
    ['a credit note of an invoice of before', { ...credit, invoiceDate: '2026-01-08' }, '2025-12-20', false],
    ['a credit note of an invoice of after', { ...credit, invoiceDate: '2026-01-08' }, '2026-01-02', true],
    ['a credit note of what is not known', { ...credit, invoiceDate: '2026-01-08' }, null, false],
  ])('%s', (_, changes, originalDate, isRemarked) => {
    const found = judge(medicine(changes, originalDate), contextOf({ mapping }));
    expect(found.state).toBe('posted');
    expect(found.reports.map(({ code }) => code)).toEqual(isRemarked ? ['vat_rate_expired'] : []);
  });

  test('says on which days it would be right', () => {
    const { reports } = judge(medicine({ invoiceDate: '2026-01-08' }), contextOf({ mapping }));
    expect(reports[0]?.message).toBe(
      'Invoice A-1001 (id 1): VAT group VAT14 at 14 % is valid 2013-01-01 to 2025-12-31, but the date of the document for VAT is 2026-01-08',
    );
  });

  test('holds only where the mapping says so', () => {
    const holding = mappingOf({ ...sections, policies: { vat_rate_expired: 'hold' } });
    const context = contextOf({ mapping: holding });
    expect(judge(medicine({ invoiceDate: '2026-01-08' }), context)).toMatchObject({
      state: 'held',
      entry: null,
      problem: { code: 'vat_rate_expired' },
    });
    expect(judge(medicine({ ...credit, invoiceDate: '2026-01-08' }, null), context).state).toBe('posted');
  });
});

const zeroRated = (group: string, vatNumber: string | null, countryCode: string | null = null) =>
  invoiceFacts(invoiceOf(['100.00', '0.00', '100.00'], { payer: { name: 'A', vatNumber, countryCode } }), [
    rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', group) }),
  ]);

describe('eu_without_vat_number', () => {
  test.each([
    ['Goods', null, null, mapping, true],
    ['Services', ' ', null, mapping, true],
    ['Scrap', null, null, mapping, true],
    ['Goods', 'EE100200300', null, mapping, false],
    ['Goods', 'FI12345678', null, mapping, true],
    ['Services', 'fi 1234-5678', null, mapping, true],
    ['Scrap', 'FI12345678', null, mapping, false],
    ['Services', '12345678', 'FI', mapping, true],
    ['Services', '12345678', 'EE', mapping, false],
    ['Goods', 'EL123456789', null, greek, true],
    ['Goods', 'GR123456789', null, greek, true],
    ['Goods', 'FI12345678', null, abroad, false],
    ['Other', null, null, mapping, false],
    ['Deposit', null, null, mapping, false],
  ])('%s to %j in %j', (group, vatNumber, country, by, isRemarked) => {
    const found = judge(zeroRated(group, vatNumber, country), contextOf({ mapping: by }));
    expect(found.state).toBe('posted');
    expect(found.reports.map(({ code }) => code)).toEqual(isRemarked ? ['eu_without_vat_number'] : []);
  });

  test('is reported once for a group, however many accounts it is on', () => {
    const facts = invoiceFacts(invoiceOf(['200.00', '0.00', '200.00']), [
      rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', 'Goods') }),
      rowOf('3010', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', 'Goods') }),
    ]);
    expect(judge(facts, contextOf({ mapping })).reports).toHaveLength(1);
  });
});

test('what is outside VAT has no base; what is exempt has', () => {
  const facts = invoiceFacts(invoiceOf(['150.00', '0.00', '150.00']), [
    rowOf('3000', '100.00', '0.00', '100.00', { vatGroup: vatGroup('0', 'Deposit') }),
    rowOf('3010', '50.00', '0.00', '50.00', { vatGroup: vatGroup('0', 'Exempt') }),
  ]);
  expect(render([judge(facts, contextOf({ mapping })).entry!])).toBe(`2026-01-15 Invoice A-1001
    1700  150.00
    3000  [Deposit 0%]  -100.00
    3010  [Exempt 0%, base 50]  -50.00`);
});

test('a rule by date follows the first original of a credit note, otherwise its own date', () => {
  const dated = mappingOf({
    revenue_rules: [
      { when: { account: '3100', to: '2025-12-31' }, account: '3114' },
      { when: { account: '3100' }, account: '3113' },
    ],
  });
  const accountOf = (originalDate: string | null) =>
    judge(medicine({ ...credit, invoiceDate: '2026-01-08' }, originalDate), contextOf({ mapping: dated })).entry!
      .lines[1]!.account;
  expect([accountOf('2025-12-20'), accountOf('2026-01-02'), accountOf(null)]).toEqual(['3114', '3113', '3113']);
});

describe('the first original of a chain', () => {
  const invoices = new Map(
    [
      invoiceOf(['1', '0', '1'], { id: 1 }),
      invoiceOf(['-1', '0', '-1'], { id: 2, creditNote: true, originalInvoiceId: 1 }),
      invoiceOf(['1', '0', '1'], { id: 3, creditNote: true, originalInvoiceId: 2 }),
      invoiceOf(['-1', '0', '-1'], { id: 4, creditNote: true, originalInvoiceId: 99 }),
      invoiceOf(['-1', '0', '-1'], { id: 5, creditNote: true, originalInvoiceId: null }),
      invoiceOf(['-1', '0', '-1'], { id: 6, creditNote: true, originalInvoiceId: 7 }),
      invoiceOf(['-1', '0', '-1'], { id: 7, creditNote: true, originalInvoiceId: 6 }),
    ].map((invoice) => [invoice.id, invoice]),
  );
  test.each([
    ['an invoice', 1, 1],
    ['its credit note', 2, 1],
    ['the credit note of that', 3, 1],
    ['one whose original is not known', 4, null],
    ['one without an original', 5, null],
    ['two that name each other', 6, null],
  ])('%s', (_, id, original) => {
    expect(creditChain(invoices.get(id)!, (each) => invoices.get(each)).first?.id ?? null).toBe(original);
  });
});

describe('P6: a circle of credit notes', () => {
  /** Credit notes by id with the id that each credits; 0 is an invoice. */
  const chainOf = (...originals: number[]) => {
    const notes = originals.map((original, at) => {
      const isCredit = original > 0;
      return invoiceOf(['-1', '0', '-1'], { id: at + 1, creditNote: isCredit, originalInvoiceId: original || null });
    });
    return (id: number) => creditChain(notes[id - 1]!, (each) => notes[each - 1]).circle;
  };
  const long = (length: number, last: number) => Array.from({ length }, (_, at) => (at + 1 === length ? last : at + 2));

  test.each<[string, number[], number, readonly number[] | null]>([
    ['one that credits itself', [1], 1, [1]],
    ['two that credit each other', [2, 1], 2, [2, 1]],
    ['three in a circle', [2, 3, 1], 2, [2, 3, 1]],
    ['one that credits a part of a circle is none', [2, 3, 2], 1, null],
    ['the circle that it leads to', [2, 3, 2], 2, [2, 3]],
    ['a chain to an invoice', [2, 3, 0], 1, null],
    ['a chain out of what is known', [2, 99], 1, null],
    ['fifty in a circle', long(50, 1), 1, Array.from({ length: 50 }, (_, at) => at + 1)],
    ['a hundred to an invoice', long(100, 0), 1, null],
  ])('%s', (_, originals, id, circle) => {
    expect(chainOf(...originals)(id)).toEqual(circle);
  });

  test('a chain that is longer than any is followed in bounded time, and taken for a circle', () => {
    let asked = 0;
    const note = (id: number) => invoiceOf(['-1', '0', '-1'], { id, creditNote: true, originalInvoiceId: id + 1 });
    const find = (id: number) => {
      asked += 1;
      return note(id);
    };
    expect(creditChain(note(1), find).circle).toHaveLength(101);
    expect(asked).toBeLessThan(110);
  });
});
