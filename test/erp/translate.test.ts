import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DraftEntry, type LedgerEntry, reversedLines } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import type { Capabilities } from '../../src/erp/capabilities.ts';
import { encode } from '../../src/erp/code-pages.ts';
import { entryKey } from '../../src/erp/entry-key.ts';
import type { ErpEntry } from '../../src/erp/erp-entry.ts';
import type { ErpProblem } from '../../src/erp/port.ts';
import { translate } from '../../src/erp/translate.ts';
import type { GeneralLedgerUnit } from '../../src/ledger/general-ledger.ts';
import { summarise, summaryId } from '../../src/ledger/summaries/summary.ts';
import { type DraftFields, draft, party, recordedSummary } from '../ledger/drafts.ts';
import { mappingOf } from '../posting/support.ts';
import { capabilitiesOf } from './capabilities.ts';

const money = (text: string) => new Money(text);
const installation = 1;

function entryUnit(fields: DraftFields, changes: Partial<LedgerEntry> = {}): GeneralLedgerUnit & { kind: 'entry' } {
  return { kind: 'entry', posting: ledgerEntry(draft(fields), changes) };
}

function ledgerEntry(entry: DraftEntry, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  const { kind, id } = entry.document;
  return {
    ...entry,
    id: `${installation}/${kind}/${id}/1`,
    installation,
    n: 1,
    seq: id,
    postingMode: 'document',
    ...{ vatPeriod: entry.documentDate.slice(0, 7), isLate: false, mappingHash: null },
    idempotencyKey: '',
    previousHash: '',
    hash: '',
    ...changes,
  };
}

function summaryUnit(entries: LedgerEntry[]): GeneralLedgerUnit {
  const [summary] = summarise(entries);
  const id = summaryId(installation, summary!, 1);
  return { kind: 'daily_summary', posting: recordedSummary(summary!, installation, id) };
}

const words = {
  vat_codes: { VAT24: 'S24', ZERO: { '0': 'S0' } },
  dimensions: { dimension_1: { name: 'Cost centre', values: { SURG: '100' } }, department: { name: 'Branch' } },
  journals: { invoice: 'REV', '*': 'MISC' },
  collective_party: 'CLIENTS',
};

function mapping(changes: Record<string, unknown> = {}, others: Record<string, unknown> = {}) {
  return mappingOf({
    counterparties: { insurance_receivable: 'INSURANCE' },
    erp: { ...words, ...changes },
    ...others,
  });
}

function run(unit: GeneralLedgerUnit, changes: Record<string, unknown> = {}, capabilities: Partial<Capabilities> = {}) {
  return translate(unit, {
    databaseId: 'db',
    mapping: mapping(changes),
    capabilities: capabilitiesOf(capabilities),
  });
}

function entryOf(result: { entry: ErpEntry } | { problems: ErpProblem[] }): ErpEntry {
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.entry;
}

function problemsOf(result: { entry: ErpEntry } | { problems: ErpProblem[] }): string[] {
  return 'problems' in result ? result.problems.map(({ code }) => code) : [];
}

/** Two rows at 24 % on two accounts and one at 0 %: net 100 + 50 + 30, VAT 36. */
const invoiceFields: DraftFields = {
  kind: 'invoice',
  id: 5,
  date: '2026-03-01',
  description: 'Invoice A1001',
  lines: [
    [
      'receivable',
      'receivable',
      '216',
      { party: party(7), invoiceId: 5, documentNumber: 'A1001', dueDate: '2026-03-15', departmentId: 2 },
    ],
    [
      '3000',
      'revenue',
      '-100',
      {
        dimensions: ['SURG', null, null],
        departmentId: 2,
        vat: { group: 'VAT24', rate: money('24'), base: null },
        party: party(7),
      },
    ],
    ['3010', 'revenue', '-50', { vat: { group: 'VAT24', rate: money('24.00'), base: null }, departmentId: 2 }],
    [
      '3100',
      'revenue',
      '-30',
      {
        vat: { group: 'ZERO', rate: money('0'), base: money('30') },
        party: { ...party(7), vatNumber: 'SE556677' },
        departmentId: 2,
      },
    ],
    ['2939', 'vat', '-36', { vat: { group: 'VAT24', rate: money('24'), base: money('150') }, departmentId: 2 }],
  ],
};

describe('an invoice', () => {
  const entry = entryOf(run(entryUnit(invoiceFields)));

  test('has key, journal of its kind, date, number and texts', () => {
    expect(entry).toMatchObject({
      key: entryKey('db', '1/invoice/5/1'),
      unitId: '1/invoice/5/1',
      installation: 1,
      date: '2026-03-01',
      journal: 'REV',
      description: 'Invoice A1001',
      reference: 'A1001',
      reverses: null,
    });
  });

  test('keeps accounts, sides and amounts line by line', () => {
    expect(entry.lines.map(({ account, side, amount }) => [account, side, amount.toFixed()])).toEqual([
      ['receivable', 'debit', '216'],
      ['3000', 'credit', '100'],
      ['3010', 'credit', '50'],
      ['3100', 'credit', '30'],
      ['2939', 'credit', '36'],
    ]);
  });

  test('has tax codes on revenue and VAT lines, each base and each tax once', () => {
    expect(entry.lines.map(({ vat }) => vat && [vat.code, vat.part, vat.base])).toEqual([
      null,
      ['S24', 'base', null],
      ['S24', 'base', null],
      ['S0', 'base', null],
      ['S24', 'tax', null],
    ]);
  });

  test('has dimensions on revenue only, and only those that the line has', () => {
    expect(entry.lines.map(({ dimensions }) => dimensions)).toEqual([
      {},
      { 'Cost centre': '100', Branch: '2' },
      { Branch: '2' },
      { Branch: '2' },
      {},
    ]);
  });

  test('lines without a value have that of "", where the mapping has one', () => {
    const dimensions = { dimension_1: { name: 'Cost centre', values: { SURG: '100', '': 'NONE' } } };
    const { lines } = entryOf(run(entryUnit(invoiceFields), { dimensions }));
    expect(lines.map((line) => line.dimensions['Cost centre'])).toEqual([undefined, '100', 'NONE', 'NONE', undefined]);
  });

  test('has party, open item and due date on its receivable', () => {
    expect(entry.lines.map(({ party, openItem, dueDate }) => [party?.code ?? null, openItem, dueDate])).toEqual([
      ['CLIENTS', '1/invoice/5', '2026-03-15'],
      [null, null, null],
      [null, null, null],
      [null, null, null],
      [null, null, null],
    ]);
  });

  test('names the buyer of a zero-rated sale', () => {
    expect(entry.lines.map(({ description }) => description)).toEqual([
      'Invoice A1001',
      'Invoice A1001',
      'Invoice A1001',
      'Invoice A1001 (SE556677)',
      'Invoice A1001',
    ]);
  });

  test('its reversal swaps the sides, names the original and has the same VAT', () => {
    const reversal = entryUnit(invoiceFields, {
      id: '1/invoice/5/2',
      reverses: '1/invoice/5/1',
      lines: reversedLines(draft(invoiceFields).lines),
    });
    const reversed = entryOf(run(reversal));
    expect(reversed.reverses).toBe('1/invoice/5/1');
    expect(reversed.key).not.toBe(entry.key);
    expect(reversed.lines.map(({ side }) => side)).toEqual(['credit', 'debit', 'debit', 'debit', 'debit']);
    expect(reversed.lines.map(({ vat }) => vat)).toEqual(entry.lines.map(({ vat }) => vat));
    expect(reversed.lines[0]!.openItem).toBe('1/invoice/5');
    // If an ERP declares credit notes separately, a reversal takes the invoice back and is not a credit note.
    expect([entry.isRefund, reversed.isRefund]).toEqual([false, false]);
  });

  test('a credit note and its reversal are refunds; a payment is not; a summary has both', () => {
    const turned = reversedLines(draft(invoiceFields).lines);
    const creditNote = entryOf(run(entryUnit(invoiceFields, { lines: turned })));
    const reversal = { id: '1/invoice/5/2', reverses: '1/invoice/5/1' };
    expect([creditNote.isRefund, entryOf(run(entryUnit(invoiceFields, reversal))).isRefund]).toEqual([true, true]);
    const paid: DraftFields['lines'] = [
      ['cash', 'cash', '20', { party: party(7) }],
      ['receivable', 'receivable', '-20', { party: party(7), invoiceId: 5 }],
    ];
    const payment = { kind: 'payment', id: 9, date: '2026-03-02', lines: paid } as const;
    expect(entryOf(run(entryUnit(payment))).isRefund).toBe(false);
    const summary = summaryUnit([entryUnit(invoiceFields).posting]);
    expect('isRefund' in entryOf(run(summary))).toBe(false);
  });
});

describe('parties', () => {
  const payment: DraftFields = {
    kind: 'payment',
    id: 9,
    date: '2026-03-02',
    lines: [
      ['insurance_receivable', 'insurance_receivable', '80', { party: { ...party(7), code: 'INSURANCE', name: null } }],
      ['cash', 'cash', '20', { party: party(7) }],
      ['receivable', 'receivable', '-100', { party: party(7), invoiceId: 5 }],
    ],
  };
  const codes = (entry: ErpEntry) => entry.lines.map(({ party }) => party && [party.code, party.isOurs]);

  test('collective: one for all clients; the counterparty stays its own; cash has none', () => {
    expect(codes(entryOf(run(entryUnit(payment))))).toEqual([['INSURANCE', false], null, ['CLIENTS', false]]);
  });

  test('per client: by our id, which differs between installations of one company', () => {
    const entry = entryOf(run(entryUnit(payment), { parties: 'per_client' }));
    expect(codes(entry)).toEqual([['INSURANCE', false], null, ['1/client/7', true]]);
    expect(entry.lines[2]!.party).toMatchObject({ name: 'Client 7', countryCode: 'FI', vatNumber: null });
  });

  test('the cash customer is the collective party', () => {
    const sale = entryUnit({
      ...payment,
      lines: [
        ['cash', 'cash', '10'],
        ['receivable', 'receivable', '-10', { party: { ...party(0), code: 'CASH' }, invoiceId: 6 }],
      ],
    });
    expect(codes(entryOf(run(sale, { parties: 'per_client' })))).toEqual([null, ['CLIENTS', false]]);
  });

  test('every line of an account that needs one has one, whatever its role', () => {
    const unit = entryUnit({
      ...payment,
      lines: [
        ['receivable', 'credit_settlement', '10', { party: party(7) }],
        ['receivable', 'receivable', '-10', { party: party(7), invoiceId: 6 }],
      ],
    });
    expect(codes(entryOf(run(unit)))).toEqual([
      ['CLIENTS', false],
      ['CLIENTS', false],
    ]);
  });

  test('an ERP without parties on lines gets none', () => {
    const lines = { ...capabilitiesOf().lines, party: 'none' as const };
    expect(codes(entryOf(run(entryUnit(payment), { collective_party: null }, { lines })))).toEqual([null, null, null]);
  });

  test('an ERP without parties on lines gets their names in the texts, unless the mapping shares a party', () => {
    const lines = { ...capabilitiesOf().lines, party: 'none' as const };
    const textsOf = (parties: string) =>
      entryOf(run(entryUnit(payment), { parties, collective_party: null }, { lines })).lines.map(
        ({ role, description }) => `${role}: ${description}`,
      );
    const others = ['insurance_receivable: payment 9 INSURANCE', 'cash: payment 9'];
    expect(textsOf('per_client')).toEqual([...others, 'receivable: payment 9 Client 7']);
    expect(textsOf('collective')).toEqual([...others, 'receivable: payment 9']);
  });

  test('an ERP with one party per entry refuses two', () => {
    const lines = { ...capabilitiesOf().lines, party: 'per_entry' as const };
    expect(problemsOf(run(entryUnit(payment), {}, { lines }))).toEqual(['erp_party_refused']);
  });
});

describe('a daily summary', () => {
  const unit = summaryUnit([
    ledgerEntry(draft(invoiceFields)),
    ledgerEntry(draft({ ...invoiceFields, id: 6 }), { id: '1/invoice/6/1' }),
  ]);

  test('has the collective party, no open items, its department, and each base once', () => {
    const entry = entryOf(run(unit, { parties: 'per_client' }));
    expect(entry).toMatchObject({ unitId: '1/summary/2026-03-01-2/1', journal: 'MISC', reference: '2026-D-000001' });
    expect(entry.description).toBe('Summary of 2026-03-01, department 2, recorded 2026-03-02 12:00 UTC');
    const told = entry.lines.map((line) => [
      line.account,
      line.side,
      line.amount.toFixed(),
      line.party?.code ?? null,
      line.openItem,
      line.vat && `${line.vat.code} ${line.vat.part} ${line.vat.base}`,
      line.dimensions,
    ]);
    expect(told.sort()).toEqual([
      ['2939', 'credit', '72', null, null, 'S24 tax null', {}],
      ['3000', 'credit', '200', null, null, 'S24 base null', { 'Cost centre': '100', Branch: '2' }],
      ['3010', 'credit', '100', null, null, 'S24 base null', { Branch: '2' }],
      ['3100', 'credit', '60', null, null, 'S0 base null', { Branch: '2' }],
      ['receivable', 'debit', '432', 'CLIENTS', null, null, {}],
    ]);
  });
});

describe('missing values in the mapping', () => {
  test('are all reported together, each of them once', () => {
    const result = run(entryUnit(invoiceFields), {
      vat_codes: { VAT14: 'S14' },
      dimensions: { dimension_1: { name: 'Cost centre', values: {} } },
      journals: {},
      collective_party: null,
    });
    expect('problems' in result && result.problems).toEqual([
      { code: 'journal_unmapped', message: 'the mapping has no erp.journals.invoice and no erp.journals."*"' },
      {
        code: 'party_unmapped',
        message: 'a line on account receivable needs a party, and erp.collective_party is not set',
      },
      { code: 'vat_code_unmapped', message: 'the mapping has no erp.vat_codes for VAT group VAT24 at 24 %' },
      { code: 'dimension_unmapped', message: 'the mapping has no erp.dimensions.dimension_1.values for SURG' },
      { code: 'vat_code_unmapped', message: 'the mapping has no erp.vat_codes for VAT group ZERO at 0 %' },
    ]);
  });

  test.each([
    ['same: the name of the group', 'same', ['VAT24', 'VAT24', 'ZERO', 'VAT24']],
    ['"*" for the rest', { VAT24: 'A', '*': 'B' }, ['A', 'A', 'B', 'A']],
    ['by rate', { VAT24: { '24.0': 'A' }, '*': { '*': 'B' } }, ['A', 'A', 'B', 'A']],
    ['none: no code at all', { VAT24: 'A', '*': 'none' }, ['A', 'A', undefined, 'A']],
  ])('vat_codes %s', (_, vatCodes, expected) => {
    const entry = entryOf(run(entryUnit(invoiceFields), { vat_codes: vatCodes }));
    expect(entry.lines.slice(1).map(({ vat }) => vat?.code)).toEqual(expected);
  });

  test('too many lines for the ERP', () => {
    const write = { ...capabilitiesOf().write, max_lines: 4 };
    expect(run(entryUnit(invoiceFields), {}, { write })).toEqual({
      problems: [{ code: 'erp_too_large', message: 'the entry has 5 lines; the ERP accepts at most 4' }],
    });
  });

  test('a file needs neither journal nor collective party', () => {
    const entry = entryOf(run(entryUnit(invoiceFields), { journals: {}, collective_party: null }, { kind: 'file' }));
    expect([entry.journal, entry.lines[0]!.party]).toEqual(['', null]);
  });
});

describe('texts', () => {
  const described = (description: string, changes: Partial<Capabilities['text']>) =>
    entryOf(run(entryUnit({ ...invoiceFields, description }), {}, { text: { ...capabilitiesOf().text, ...changes } }))
      .description;

  test.each<[string, string, Partial<Capabilities['text']>, string]>([
    ['controls and turned directions become spaces', 'a\u0000b\r\nc\u202Ed', {}, 'a b c d'],
    ['a cut never splits a surrogate pair', 'ab😀', { lengths: { description: 3 } }, 'ab'],
    ['nor a family', 'a👨‍👩‍👧b', { lengths: { description: 6 } }, 'a'],
    ['nor a letter from its accent', 'ae\u0301', { lengths: { description: 2 } }, 'a'],
    ['what is forbidden becomes a space', 'a"b;c', { forbidden: '";' }, 'a b c'],
    ['another plane, where the ERP has no room for it', 'cat 😺!', { forbidden: '\\u{10000}-\\u{10ffff}' }, 'cat !'],
    ['what Windows-1252 lacks', 'Łódź € 猫 Č Ž', { encoding: 'windows-1252' }, 'Lódz € ? C Ž'],
    ['what ISO 8859-15 lacks', 'Łódź € 猫 Č ½ Ž “x” 5 000', { encoding: 'iso-8859-15' }, 'Lódz € ? C ? Ž "x" 5 000'],
    ['lone surrogates', 'a\ud83d b', {}, 'a\ufffd b'],
  ])('%s', (_, text, changes, expected) => {
    expect(described(text, changes)).toBe(expected);
  });
});

test.each(['windows-1252', 'iso-8859-15'] as const)('%s has the codes that other programs read', (page) => {
  // Windows-1252 has no other characters below 160 than those that it defines; ISO 8859-15 has controls there.
  const codes = Uint8Array.from({ length: 96 }, (_, index) => 160 + index);
  const text = new TextDecoder(page).decode(codes);
  expect([...encode(text, page)]).toEqual([...codes]);
  expect([...encode('€', page)]).toEqual(page === 'windows-1252' ? [0x80] : [0xa4]);
});

test('any text is cut to the length, is one line, and stays well formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 0, max: 30 }), (text, length) => {
      const capabilities = { text: { ...capabilitiesOf().text, lengths: { line_description: length } } };
      const entry = entryOf(run(entryUnit({ ...invoiceFields, description: text }), {}, capabilities));
      for (const { description } of entry.lines) {
        expect(description.length).toBeLessThanOrEqual(length);
        expect(description.isWellFormed()).toBe(true);
        expect(description).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }
    }),
  );
});
