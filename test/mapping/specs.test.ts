import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runSpecs } from '../../src/bookkeeping/run-specs.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { mappingJsonSchema } from '../../src/mapping/schema.ts';
import { parseSpecs, specsJsonSchema } from '../../src/mapping/specs.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { mappingOf } from '../posting/support.ts';

const dialect = loadDialect();
const sale = `
    invoices:
      - invoice_date: 2026-01-15
        rows:
          - {account_number: "3000", sum: 100.00, sum_vat: 24.00, invoicerow_vat_group: {name: VAT24, percentage: 24}}`;

function differences(body: string): string[] {
  const result = parseSpecs(`cases:\n  - name: one${body}`);
  if ('errors' in result) throw new Error(result.errors.join('; '));
  return runSpecs(result.specs, mappingOf(), dialect)[0]!.differences;
}

function entry(lines: string, head = '2026-01-15 invoice 1'): string {
  return `${sale}\n    entries: |\n      ${head}\n${lines
    .trim()
    .split('\n')
    .map((line) => `        ${line.trim()}`)
    .join('\n')}`;
}

describe('a case that does not post as it is written', () => {
  test('as it is: no difference', () => {
    expect(differences(entry('1700 124.00\n3000 -100.00\nvat24 -24.00'))).toEqual([]);
  });

  test.each([
    ['another account', '1700 124.00\n3001 -100.00\nvat24 -24.00', ['- 3001', '+ 3000']],
    ['a cent', '1700 124.00\n3000 -100.01\nvat24 -23.99', ['- 3000', '- vat24', '+ 3000', '+ vat24']],
    ['the side', '1700 -124.00\n3000 100.00\nvat24 24.00', ['-', '-', '-', '+', '+', '+']],
    ['a line too few', '1700 100.00\n3000 -100.00', ['- 1700', '+ 1700', '+ vat24']],
    ['a tag', '1700 124.00\n3000 -100.00 ; rate: 14\nvat24 -24.00', ['- 3000', '+ 3000']],
    ['the base', '1700 124.00\n3000 -100.00\nvat24 -24.00 ; base: 99', ['- vat24', '+ vat24']],
    ['the mapping’s line', '1700 124.00\n3000 -100.00 ; by: revenue.3000\nvat24 -24.00', ['- 3000', '+ 3000']],
  ])('%s', (_, lines, expected) => {
    const found = differences(entry(lines));
    expect(found).toEqual(expected.map((start) => expect.stringContaining(`invoice 1: ${start}`)));
  });

  test('the date', () => {
    const lines = '1700 124.00\n3000 -100.00\nvat24 -24.00';
    expect(differences(entry(lines, '2026-01-16 invoice 1'))).toEqual([
      'invoice 1: dated 2026-01-15, expected 2026-01-16',
    ]);
  });

  test('an entry that nothing expects, with its lines', () => {
    expect(differences(sale)).toEqual([
      'invoice 1: an entry that no case expects, dated 2026-01-15',
      expect.stringMatching(/^invoice 1: \+ 1700 +124\.00 {2}; role: receivable, party: client:1/),
      expect.stringMatching(/^invoice 1: \+ 3000 +-100\.00/),
      expect.stringMatching(/^invoice 1: \+ vat24 +-24\.00 .*rate: 24, base: 100/),
    ]);
  });

  test('an expected entry of a document that is held, or is not there', () => {
    const payment = '\n    payments:\n      - {payment_type: 14, paid: 5.00, date_added: 2026-01-15}';
    const wanted =
      '\n    entries: |\n      2026-01-15 payment 1\n        1 5.00\n        2 -5.00\n      2026-01-15 payment 7\n        1 1\n        2 -1';
    const found = differences(payment + wanted);
    expect(found[0]).toMatch(/^payment 1: nothing is posted; it is held: .*\(invoice_unknown\)/);
    expect(found[1]).toBe('payment 7: nothing is posted; the case has no such document');
  });

  test('held otherwise than expected, posted instead, or held unexpectedly', () => {
    const nameless = sale.replace('account_number: "3000", ', '');
    expect(differences(`${nameless}\n    held: {invoice 1: account_unmapped}`)).toEqual([]);
    expect(differences(nameless)[0]).toMatch(/^invoice 1: held as account_unmapped, which no case expects/);
    expect(differences(`${nameless}\n    held: {invoice 1: rows_stale}`)[0]).toMatch(
      /^invoice 1: expected to be held as rows_stale; it is held as account_unmapped/,
    );
    expect(differences(`${sale}\n    held: {invoice 1: rows_stale}`)).toContain(
      'invoice 1: expected to be held as rows_stale; it is posted',
    );
  });
});

describe('a specs file that is wrong', () => {
  test.each([
    ['cases: []', 'cases: must contain a case'],
    ['', 'cases: must be a list of cases'],
    ['cases: [{}]', 'cases.0.name: must be a text'],
    ['cases: [{name: a, entrys: ""}]', 'cases.0.entrys: unknown key; did you mean entries?'],
    ['zone: UTC\ncases: [{name: a}]', /^zone: unknown key/],
    ['timezone: Moon\ncases: [{name: a}]', 'timezone: is not a time zone'],
    ['currency: XYZ1\ncases: [{name: a}]', 'currency: is not a currency'],
    ['cases: [{name: a}, {name: a}]', 'cases: two cases have the name "a"'],
    ['cases: [{name: a, held: {sale 1: x}}]', 'cases.0.held.sale 1: must be a document such as `invoice 1`'],
    ['cases: [{name: a, entries: "2026-01-01 invoice 1"}]', 'cases.0.entries: invoice 1 has no lines'],
    ['cases: [{name: a, entries: "2026-01-01 sale 1"}]', /line 1: is not "DATE KIND ID"/],
    ['cases: [{name: a, entries: " 1 1.00"}]', /line 1: there is no entry for this line/],
    [
      'cases:\n  - name: a\n    entries: |\n      2026-01-01 invoice 1\n       1 1.00\n       2 -1.01',
      /invoice 1 does not balance: debits and credits differ by -0.01/,
    ],
    [
      'cases:\n  - name: a\n    entries: |\n      2026-01-01 invoice 1\n       1 1.00 ; rte: 24\n       2 -1.00',
      /line 2: unknown tag "rte: 24"; did you mean rate\?/,
    ],
    [
      'cases:\n  - name: a\n    entries: |\n      2026-01-01 invoice 1\n       1 1,00\n       2 -1.00',
      /line 2: "1 1,00" is not "ACCOUNT {2}AMOUNT"/,
    ],
    ['cases: [{name: a', /./],
  ])('%j', (text, error) => {
    const result = parseSpecs(text);
    const expected = typeof error === 'string' ? error : expect.stringMatching(error);
    expect(result).toHaveProperty('errors', expect.arrayContaining([expected]));
  });
});

describe('mapping check', () => {
  const mapping = 'roles: {receivable: "1700"}\nrevenue: same\nvat: same\n';
  const specs = (lines: string) => `cases:\n  - name: a sale${entry(lines)}\n`;
  const check = (files: Record<string, string>) => {
    const folder = folderOf({ 'm.yaml': mapping, ...files });
    return vetledger(['mapping', 'check', `${folder}/m.yaml`, '--json', '--config', `${folder}/none.yaml`]);
  };

  test('exit code 0 without cases', async () => {
    const { code, json } = await check({});
    expect({ code, specs: json().specs }).toEqual({ code: 0, specs: null });
  });

  test('exit code 1 with a case that fails, and what came of it', async () => {
    const { code, json } = await check({ 'm.specs.yaml': specs('1700 124.00\n3000 -100.00\n2939 -24.00') });
    expect(code).toBe(1);
    expect(json()).toMatchObject({
      ok: false,
      compared: false,
      specs: { cases: 1, failed: [{ name: 'a sale', differences: [expect.stringContaining('vat_group_unmapped')] }] },
    });
  });

  test('exit code 2 with a specs file that is wrong', async () => {
    const { code, json } = await check({ 'm.specs.yaml': specs('1700 124.00\n3000 -100.00') });
    expect(code).toBe(2);
    expect(json().error).toMatchObject({ code: 'specs_invalid', message: expect.stringContaining('does not balance') });
  });
});

test.each([
  ['mapping.schema.json', mappingJsonSchema],
  ['specs.schema.json', specsJsonSchema],
])('mappings/%s is what the code says', (name, schema) => {
  const file = fileURLToPath(new URL(`../../mappings/${name}`, import.meta.url));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema())));
});
