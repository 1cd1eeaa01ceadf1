import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { runSpecs } from '../../src/bookkeeping/run-specs.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { loadChart, loadMapping, loadSpecs } from '../../src/config/mapping-files.ts';
import { accountsNamed } from '../../src/mapping/accounts-written.ts';
import { checkAgainstChart } from '../../src/mapping/check-chart.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { parseSpecs } from '../../src/mapping/specs.ts';

const folder = fileURLToPath(new URL('../../mappings/', import.meta.url));
const mappings = readdirSync(folder).filter(
  (name) => name.endsWith('.yaml') && !name.endsWith('.specs.yaml') && name !== 'practice-api.yaml',
);

describe.each(mappings)('%s', (name) => {
  test('names its schema on line 1', () => {
    const [line] = readFileSync(folder + name, 'utf8').split('\n');
    expect(line).toBe('# yaml-language-server: $schema=./mapping.schema.json');
  });

  test('posts its cases as they are written', async () => {
    const { mapping } = await loadMapping(folder + name);
    const specs = await loadSpecs(folder + name);
    expect(specs!.cases.length).toBeGreaterThan(4);
    expect(runSpecs(specs!, mapping, loadDialect()).flatMap(({ differences }) => differences)).toEqual([]);
  });
});

test('there are ready mappings for Finland, Sweden, Germany and anywhere', () => {
  expect(mappings).toEqual(expect.arrayContaining(['finland.yaml', 'generic.yaml', 'germany.yaml', 'sweden.yaml']));
});

test.each([
  'finland.yaml',
  'generic.yaml',
  'germany-skr04.yaml',
  'germany.yaml',
  'netvisor-finland.yaml',
  'odoo-finland.yaml',
  'sweden.yaml',
  'xero-uk.yaml',
])('%s names a chart, and accounts of it alone', async (name) => {
  const { mapping } = await loadMapping(folder + name);
  const chart = await loadChart(mapping, folder + name);
  expect(checkAgainstChart(accountsNamed(mapping), chart!.chart)).toEqual([]);
});

test.each([
  ['finland.yaml', '125.50', { 1779: '125.50', 2861: '-125.50', 2862: '25.50', 2939: '-25.50' }],
  ['sweden.yaml', '125.00', { 1580: '125.00', 2420: '-125.00', 2428: '25.00', 2611: '-25.00' }],
])('%s: its commented lines post the VAT of a prepayment', async (name, paid, lines) => {
  const text = readFileSync(folder + name, 'utf8').replace(/^ {2}# (prepayment_vat: )/gm, '  $1');
  const read = parseMapping(parse(text));
  if ('errors' in read) throw new Error(read.errors.join('; '));
  const chart = await loadChart(read.mapping, folder + name);
  expect(checkAgainstChart(accountsNamed(read.mapping), chart!.chart)).toEqual([]);
  const entry = Object.entries(lines).map(([account, amount]) => `          ${account} ${amount}\n`);
  const specs = parseSpecs(
    `start_date: 2026-01-01
cases:
  - name: a prepayment by mobile
    prepayments:
      - {payment_type: 7, paid: ${paid}, created: 2026-02-01}
    entries: |
      2026-02-01 prepayment 1
${entry.join('')}`,
  );
  if ('errors' in specs) throw new Error(specs.errors.join('; '));
  expect(runSpecs(specs.specs, read.mapping, loadDialect()).flatMap(({ differences }) => differences)).toEqual([]);
});

test.each(mappings)('%s fits the JSON schema that editors check it by', (name) => {
  const read = (file: string) => readFileSync(folder + file, 'utf8');
  const fits = (schema: string, file: string) =>
    z.fromJSONSchema(JSON.parse(read(schema))).safeParse(parse(read(file)));
  expect(fits('mapping.schema.json', name)).toMatchObject({ success: true });
  expect(fits('specs.schema.json', name.replace('.yaml', '.specs.yaml'))).toMatchObject({ success: true });
});

test.each([
  'payment_types: {8: {role: cash}}',
  'roles: {csh: "1"}',
  'revenue_rules: [{when: {vat_rat: 25}, account: "1"}]',
  'vat: 2939.5',
])('%s does not fit the JSON schema', (text) => {
  const schema = JSON.parse(readFileSync(`${folder}mapping.schema.json`, 'utf8'));
  expect(z.fromJSONSchema(schema).safeParse(parse(text))).toMatchObject({ success: false });
});
