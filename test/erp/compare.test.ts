import { describe, expect, it, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { compareEntry, describeDifferences } from '../../src/erp/compare.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../src/erp/erp-entry.ts';
import { type Changes, capabilitiesWith } from './capabilities.ts';

const sentLine = (account: string, amount: string, more: Partial<ErpLine> = {}): ErpLine => ({
  ...{ account, role: 'revenue', side: amount.startsWith('-') ? 'credit' : 'debit', amount: new Money(amount).abs() },
  ...{ description: '', party: null, vat: null, dimensions: {}, openItem: null, dueDate: null },
  ...more,
});
const heldLine = (account: string, amount: string, more: Partial<FoundLine> = {}): FoundLine => ({
  ...{ id: null, account, amount: new Money(amount), party: null, vat: [], dimensions: {}, matched: null },
  ...more,
});
const party = { code: 'client:5', name: 'Erä', vatNumber: null, countryCode: null, isOurs: true };
const vat = (part: 'base' | 'tax', base: string | null = null) => ({
  ...{ code: 'S24', part, base: base === null ? null : new Money(base), rate: new Money('0.24') },
});
const heldVat = (part: 'base' | 'tax', amount: string) => ({ code: 'S24', part, amount: new Money(amount) });

const sent: ErpEntry = {
  ...{ key: 'K', unitId: '1/invoice/7/1', installation: 1, date: '2026-01-15', journal: 'SALES', description: '' },
  ...{ reference: null, reverses: null },
  lines: [
    sentLine('1700', '124.00', { role: 'receivable', party }),
    sentLine('3000', '-100.00', { vat: vat('base'), dimensions: { site: 'north' } }),
    sentLine('2930', '-24.00', { role: 'vat', vat: vat('tax') }),
  ],
};
const held: FoundEntry = {
  ...{ id: '1', key: 'K', number: '17', state: 'posted', date: '2026-01-15', journal: 'SALES', description: '' },
  lines: [
    heldLine('2930', '-24.00', { vat: [heldVat('tax', '-24.00')] }),
    heldLine('3000', '-100.00', { vat: [heldVat('base', '-100.00')], dimensions: { site: 'north' } }),
    heldLine('1700', '124.00', { party: 'client:5' }),
  ],
};
const withLine = (index: number, change: Partial<FoundLine>): FoundEntry => ({
  ...held,
  lines: held.lines.map((line, at) => (at === index ? { ...line, ...change } : line)),
});
const differences = (entry: ErpEntry, found: FoundEntry, changes: Changes = {}) =>
  compareEntry(entry, found, { capabilities: capabilitiesWith(changes), decimals: 2 });

describe('an entry in the ERP', () => {
  it('is equal whatever the order of its lines', () => {
    expect(differences(sent, held)).toEqual([]);
  });

  it('has the same origin, if both sides have one', () => {
    const reversal: ErpEntry = { ...sent, reverses: '1/invoice/7/0', originId: '5' };
    expect(differences(reversal, held)).toEqual([]);
    expect(differences(sent, { ...held, originId: '6' })).toEqual([]);
    expect(differences(reversal, { ...held, originId: '5' })).toEqual([]);
    expect(differences(reversal, { ...held, originId: '6' }).map(({ message }) => message)).toEqual([
      'the entry reverses the ERP’s entry with the id 5; the ERP names 6 as its origin',
    ]);
  });

  const cases: [string, FoundEntry, string[]][] = [
    [
      'a date that was moved',
      { ...held, date: '2026-02-28' },
      ['the entry was sent with the date 2026-01-15; the ERP has 2026-02-28'],
    ],
    ['another journal', { ...held, journal: 'MISC' }, ['the entry was sent to the journal SALES; the ERP has MISC']],
    ['that it is void', { ...held, state: 'void' }, ['the entry is void in the ERP']],
    [
      'a cent',
      withLine(0, { amount: new Money('-24.01') }),
      [
        'the line account 2930, credit 24.00 was sent; the ERP has no such line',
        'the ERP has a line account 2930, credit 24.01 that was not sent',
      ],
    ],
    [
      'an account',
      withLine(2, { account: '1710' }),
      [
        'the line account 1700, party client:5, debit 124.00 was sent; the ERP has no such line',
        'the ERP has a line account 1710, party client:5, debit 124.00 that was not sent',
      ],
    ],
    [
      'a party that was dropped',
      withLine(2, { party: null }),
      [
        'the line account 1700, party client:5, debit 124.00 was sent; the ERP has no such line',
        'the ERP has a line account 1700, debit 124.00 that was not sent',
      ],
    ],
    [
      'a dimension that was dropped',
      withLine(1, { dimensions: {} }),
      [
        'the line account 3000, site north, credit 100.00 was sent; the ERP has no such line',
        'the ERP has a line account 3000, credit 100.00 that was not sent',
      ],
    ],
    [
      'a balancing line',
      { ...held, lines: [...held.lines, heldLine('1999', '0.00'), heldLine('1999', '1.00')] },
      ['the ERP has a line account 1999, debit 1.00 that was not sent'],
    ],
    [
      'a tax code that was dropped',
      withLine(1, { vat: [] }),
      ['the base of the tax code S24 on account 3000 was sent as credit 100.00; the ERP has none'],
    ],
    [
      'a tax amount',
      withLine(0, { vat: [heldVat('tax', '-23.99')] }),
      ['the amount of the tax code S24 on account 2930 was sent as credit 24.00; the ERP has credit 23.99'],
    ],
    [
      'lines that appear twice',
      { ...held, lines: [...held.lines, ...held.lines.map((line) => ({ ...line, vat: [] }))] },
      [
        'the ERP has a line account 2930, credit 24.00 that was not sent',
        'the ERP has a line account 3000, site north, credit 100.00 that was not sent',
        'the ERP has a line account 1700, party client:5, debit 124.00 that was not sent',
      ],
    ],
  ];
  test.each(cases)('is shown by %s', (_, found, expected) => {
    expect(differences(sent, found).map(({ message }) => message)).toEqual(expected);
  });

  it('holds the base of a tax line beside its amount', () => {
    const entry = { ...sent, lines: [sentLine('2930', '-24.00', { vat: vat('tax', '100.00') })] };
    const both = {
      ...held,
      lines: [heldLine('2930', '-24.00', { vat: [heldVat('tax', '-24'), heldVat('base', '-100')] })],
    };
    const one = { ...held, lines: [heldLine('2930', '-24.00', { vat: [heldVat('tax', '-24')] })] };
    expect(differences(entry, both)).toEqual([]);
    expect(describeDifferences(differences(entry, one))).toBe(
      'the base of the tax code S24 on account 2930 was sent as credit 100.00; the ERP has none',
    );
  });

  it('shows texts of the ERP on one line', () => {
    const found = { ...held, journal: 'A\nB\u202e' };
    expect(describeDifferences(differences(sent, found))).toBe(
      'the entry was sent to the journal SALES; the ERP has A\\nB\\u202e',
    );
  });
});

describe('what the target declares', () => {
  const twice = { ...sent, lines: [sentLine('1900', '3.00'), sentLine('1900', '4.00'), sentLine('3000', '-7.00')] };
  const once = { ...held, lines: [heldLine('1900', '7.00'), heldLine('3000', '-7.00')] };

  it('may be that the ERP merges lines', () => {
    expect(differences(twice, once)).toHaveLength(3);
    expect(differences(twice, once, { read_back: { normalises: ['merged_lines'] } })).toEqual([]);
  });

  it('may be that the ERP nets debit and credit of a place', () => {
    const sides = { ...sent, lines: [sentLine('1900', '3.00'), sentLine('1900', '-1.00'), sentLine('3000', '-2.00')] };
    const net = { ...held, lines: [heldLine('1900', '2.00'), heldLine('3000', '-2.00')] };
    expect(differences(sides, net)).toHaveLength(3);
    expect(differences(sides, net, { read_back: { normalises: ['merged_lines'] } })).toEqual([]);
  });

  it('does not allow added lines that cancel each other out', () => {
    const added = { ...held, lines: [...held.lines, heldLine('9999', '0.01'), heldLine('9999', '-0.01')] };
    expect(
      differences(sent, added, { read_back: { normalises: ['merged_lines'] } }).map(({ message }) => message),
    ).toEqual(['the ERP has lines on account 9999 that were not sent; they cancel each other out']);
    const empty = { ...held, lines: [...held.lines, heldLine('9999', '0')] };
    expect(differences(sent, empty, { read_back: { normalises: ['merged_lines'] } })).toEqual([]);
  });

  it('may be a tolerance of VAT amounts', () => {
    const found = withLine(0, { vat: [heldVat('tax', '-24.01')] });
    expect(differences(sent, found, { vat: { tolerance_minor: 1 } })).toEqual([]);
    expect(
      differences(sent, withLine(0, { vat: [heldVat('tax', '-24.02')] }), { vat: { tolerance_minor: 1 } }),
    ).toHaveLength(1);
    // The line's amount has no tolerance.
    expect(
      differences(sent, withLine(0, { amount: new Money('-24.01') }), { vat: { tolerance_minor: 1 } }),
    ).toHaveLength(2);
  });

  it('may be where the ERP has parties', () => {
    const without = withLine(2, { party: null });
    expect(differences(sent, without, { lines: { party: 'none' } })).toEqual([]);
    expect(differences(sent, held, { lines: { party: 'per_entry' } })).toEqual([]);
    expect(describeDifferences(differences(sent, without, { lines: { party: 'per_entry' } }))).toBe(
      'the entry was sent with the party client:5; the ERP has none',
    );
  });
});
