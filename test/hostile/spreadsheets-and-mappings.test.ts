// Names that a spreadsheet would run as a formula, or that could inject text into the file of `mapping init`.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { Money, zero } from '../../src/domain/money.ts';
import { csv } from '../../src/ledger/export/csv.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { propose } from '../../src/mapping/propose.ts';
import type { RowUse } from '../../src/mapping/source-usage.ts';

function csvOf(partyName: string): string {
  return csv.entry(
    {
      ...{ id: '1/invoice/1/1', seq: 1, date: '2026-01-01', description: partyName, facts: [], recorded: [] },
      lines: [
        {
          account: '1700',
          role: 'receivable',
          side: 'debit',
          amount: new Money('1'),
          facts: [['party_name', partyName]],
        },
      ],
    },
    { id: 1, currency: 'EUR', decimals: 2 },
  );
}

/** Splits a line like a program that uses another separator and ignores quotes. */
const readNaively = (text: string) =>
  text.split(/[;\t\r\n|]/).map((cell) => cell.replace(/^["' ]+/, (found) => found.replaceAll('"', '')));

const isFormula = (cell: string) => /^\s*[=+\-@＝＋－＠]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell);

describe('a spreadsheet', () => {
  test.each([
    ['=1+1'],
    ['+1-1'],
    ['-x'],
    ['@SUM(A1)'],
    ['\t=1'],
    ['\r=1'],
    [' =1'],
    ['\n=1'],
    ['a;=1'],
    ['a\t=1'],
    ['a\n=1'],
    ['a; +1'],
    ['＝1'],
    ['＋1'],
    ['－1'],
    ['＠x'],
    ['a;＝1'],
    ['a";=1;"'],
    ['\u00a0=1'],
    ['\u200b=1'],
  ])('does not run %j, whichever separator it takes', (name) => {
    for (const cell of readNaively(csvOf(name))) expect(isFormula(cell)).toBe(false);
    for (const cell of csvOf(name).split(',')) expect(isFormula(cell.replaceAll('"', ''))).toBe(false);
  });

  test('runs nothing of any name', () => {
    const special = fc.constantFrom('=', '+', '-', '@', ';', '\t', '\r', '\n', '"', "'", ' ', '＝', 'a', '1', '|');
    fc.assert(
      fc.property(fc.string({ unit: special, maxLength: 12 }), (name) => {
        for (const cell of readNaively(csvOf(name))) expect(isFormula(cell)).toBe(false);
      }),
    );
  });

  test.each([['-12.50'], ['Kärki & Co; Oy'], ['1-2'], ['a+b@c.example']])('gets %s as it is', (name) => {
    expect(csvOf(name).replaceAll('"', '')).toContain(`,${name},`);
  });
});

const row = (
  account: string | null,
  name: string | null,
  vatAccount: string | null,
  dimension: string | null,
): RowUse => ({
  account,
  department: 1,
  dimensions: [dimension, null, null],
  internal: { account: null, dimension1: null, dimension2: null },
  vat: { name, rate: new Money('24'), account: vatAccount },
  ...{
    count: 1,
    net: new Money('1'),
    vatAmount: new Money('0.24'),
    gross: new Money('1.24'),
    hasNet: true,
    hasVat: true,
    dates: null,
  },
});

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({
    unit: fc.constantFrom(
      '\n',
      '\r',
      ':',
      '#',
      ' ',
      '"',
      "'",
      '\\',
      '-',
      '{',
      '[',
      '&',
      '*',
      '!',
      '%',
      '@',
      '`',
      '\u0085',
      '\u2028',
      '\t',
      'a',
      '\0',
    ),
    minLength: 1,
  }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '<<',
    '*',
    'null',
    '~',
    '0100',
    '1e3',
    'x'.repeat(2000),
    'a\nroles: {cash: "9"}',
    '? a',
    '\ufeff',
    '---\n',
    '...',
  ),
);

describe('the file that `mapping init` makes', () => {
  test('has the names that the source uses, and nothing that they say', () => {
    const account = { description: 'x', departmentId: null, archived: false };
    fc.assert(
      fc.property(
        hostileText,
        hostileText,
        hostileText,
        hostileText,
        fc.boolean(),
        (number, name, vatAccount, dimension, isNamed) => {
          const rows = [
            row(number, isNamed ? name : null, vatAccount, dimension),
            row(number, isNamed ? name : null, null, dimension),
          ];
          const { yaml } = propose({
            installation: 1,
            schemaPath: './mapping.schema.json',
            accounts: [{ ...account, id: 1, number, description: dimension } as never],
            uses: {
              rows,
              money: [],
              invoices: [{ department: 1, collector: false, client: true, count: 1, gross: zero }],
            },
          });
          const document = parseDocument(yaml);
          expect(document.errors).toEqual([]);
          const data = document.toJS() as Record<string, Record<string, unknown>>;
          expect(Object.keys(data)).toEqual(['roles', 'revenue', 'vat', 'vat_groups', 'policies']);
          expect(data.vat_groups).toEqual([{ group: isNamed ? name : null, rate: 24, kind: 'domestic' }]);
          expect(Object.keys(data.revenue ?? {})).toEqual([number]);
          expect(Object.keys(data.vat ?? {})).toEqual([isNamed ? name : '*']);
          expect(data.roles).toEqual({ receivable: null });
          expect(parseMapping(data)).toHaveProperty('mapping');
        },
      ),
      { numRuns: 500 },
    );
  });
});
