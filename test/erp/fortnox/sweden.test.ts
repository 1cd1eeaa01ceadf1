// mappings/sweden.yaml, with the section `erp` of docs/accountants/fortnox.md, posts invoices of all rates into the fake.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { compareEntry } from '../../../src/erp/compare.ts';
import { fortnoxCapabilities } from '../../../src/erp/targets/fortnox/capabilities.ts';
import { openFortnox } from '../../../src/erp/targets/fortnox/index.ts';
import { translate } from '../../../src/erp/translate.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { judge } from '../../../src/posting/index.ts';
import { contextOf, invoiceFacts, invoiceOf, rowOf, vatGroup } from '../../posting/support.ts';
import { ledgerEntry } from '../computing-erp.ts';
import { SimulatedTime } from '../fake/time.ts';
import { FakeFortnox } from './fake.ts';

const root = new URL('../../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The indented lines after a sentence of the page. */
function sectionOf(page: string): string {
  const [, after = ''] = page.split('Add this to `mappings/sweden.yaml`');
  const lines = after.split('\n').slice(1);
  const from = lines.findIndex((line) => line.startsWith('    erp:'));
  const length = lines.slice(from).findIndex((line) => !line.startsWith('    '));
  return lines
    .slice(from, from + length)
    .map((line) => line.slice(4))
    .join('\n');
}

const rows = [
  ...[
    ['100', '25', '125', 'Moms 25 %', '25'],
    ['100', '12', '112', 'Moms 12 %', '12'],
    ['50', '3', '53', 'Moms 6 %', '6'],
    ['30', '0', '30', 'Momsfri', '0'],
    ['20', '0', '20', 'EU services 0 %', '0'],
    ['20', '0', '20', 'EU goods 0 %', '0'],
    ['10', '0', '10', 'Export 0 %', '0'],
  ].map(([net = '', vat = '', whole = '', name = '', rate = '']) =>
    rowOf('3001', net, vat, whole, { vatGroup: vatGroup(rate, name) }),
  ),
];

test('an invoice with all rates has the accounts of its VAT codes, and is read back as sent', async () => {
  const section = sectionOf(textOf('docs/accountants/fortnox.md'));
  const read = parseMapping(parse(`${textOf('mappings/sweden.yaml')}\n${section}`));
  if ('errors' in read) throw new Error(read.errors.join('; '));
  const { mapping } = read;
  const invoice = invoiceOf(['330', '40', '370'], { id: 1 });
  const context = contextOf({ mapping, currency: 'SEK', timezone: 'Europe/Stockholm' });
  const { entry: posted } = judge(invoiceFacts(invoice, rows), context);
  if (posted === null) throw new Error('it is held');
  const unit = { kind: 'entry' as const, posting: { ...ledgerEntry(posted), id: '1/invoice/1/1' } };
  const found = translate(unit, { databaseId: 'db', mapping, capabilities: fortnoxCapabilities });
  if ('problems' in found) throw new Error(found.problems.map(({ message }) => message).join('; '));
  const codes = found.entry.lines.flatMap(({ account, vat }) =>
    vat === null ? [] : `${account} ${vat.code} ${vat.part}`,
  );
  expect(codes.toSorted()).toEqual([
    '2611 MP1/U1 tax',
    '2621 MP2/U2 tax',
    '2631 MP3/U3 tax',
    '3001 MP1/U1 base',
    '3002 MP2/U2 base',
    '3003 MP3/U3 base',
    '3004 MF base',
    '3105 E base',
    '3108 VTEU base',
    '3308 FTEU base',
  ]);
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeFortnox(time.clock());
  fake.costCenters.push({ Code: '11', Active: true });
  const log = { debug: () => {}, info: () => {}, warn: () => {} } as never;
  const target = openFortnox(fake.config, { clock: time.clock(), log, transport: fake });
  const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
  const [id = ''] = (await target.create([found.entry], request)).values();
  const [held] = await target.read([id], request);
  if (held === undefined) throw new Error('it is not there');
  expect(compareEntry(found.entry, held, { capabilities: fortnoxCapabilities, decimals: 2 })).toEqual([]);
});
