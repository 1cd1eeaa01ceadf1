// Measures the speed of the pure posting core on one processor core. It judges invoices of three rows in two VAT groups
// and decides their entries. Run: `node bench/posting.ts` (or `npm run bench posting`). It prints a table and stores it
// in bench/RESULTS.md.

import { loadDialect } from '../src/config/dialect.ts';
import { Money, sum } from '../src/domain/money.ts';
import { parseMapping } from '../src/mapping/parse.ts';
import { post } from '../src/posting/index.ts';
import type { InvoiceFacts, PostedBefore, PostingContext } from '../src/posting/types.ts';
import { readJson } from '../src/records/json.ts';
import { parseRecord } from '../src/records/schema.ts';
import { type Measured, machine, measure, perSecond, writeSection } from './measure.ts';
import { type WireInvoice, wireInvoices } from './wire-invoices.ts';

const invoiceCount = 5_000;
const runs = 9;
const aim = 20_000;

const dialect = loadDialect();
const before: PostedBefore = { inForce: null, everPosted: false, state: null, documentDate: null };

function parse({ invoice, rows }: WireInvoice): InvoiceFacts {
  return {
    kind: 'invoice',
    invoice: parseRecord('invoice', readJson(invoice), dialect),
    rows: rows.map((row) => parseRecord('row', readJson(row), dialect)),
    rowsFresh: true,
    payments: [],
    memberPayments: [],
    gone: false,
  };
}

function contextOf(): PostingContext {
  const parsed = parseMapping({
    roles: { receivable: '1700' },
    revenue: { 3000: '4000', 3010: '4010', '*': '4090' },
    vat: { General: '2930', Reduced: '2931' },
  });
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  return {
    installation: 4711,
    timezone: 'Europe/Helsinki',
    currency: 'EUR',
    decimals: 2,
    startDate: '2026-01-01',
    mapping: parsed.mapping,
    closedThrough: '2025-12-31',
    sourceLockDates: new Map(),
  };
}

const wire = wireInvoices(invoiceCount);
const parsed = wire.map(parse);
const context = contextOf();

/** Posts one invoice. Throws if it is held, because that would measure different work. */
function postOne(facts: InvoiceFacts): number {
  const { state, entries } = post(facts, before, context);
  if (state !== 'posted' || entries[0]?.lines.length !== 6) {
    throw new Error(
      `invoice ${facts.invoice.id} is ${state} with ${entries[0]?.lines.length} lines, not posted with 6`,
    );
  }
  return entries.length;
}

/**
 * The peer: the least work that exact posting needs. It adds up the three amounts of the rows and compares them with
 * the totals.
 */
function sumOne({ invoice, rows }: InvoiceFacts): number {
  const matches = (field: 'sum' | 'sumVat' | 'sumTotal', total: Money | null) =>
    sum(rows.map((row) => row[field] ?? new Money(0)))
      .minus(total ?? 0)
      .abs()
      .lessThan(1);
  return matches('sum', invoice.total) &&
    matches('sumVat', invoice.totalVat) &&
    matches('sumTotal', invoice.totalWithVat)
    ? 1
    : 0;
}

const work: [name: string, run: () => number][] = [
  ['post, facts parsed already', () => parsed.reduce((done, facts) => done + postOne(facts), 0)],
  ['parse wire JSON and post', () => wire.reduce((done, each) => done + postOne(parse(each)), 0)],
  ['parse wire JSON only', () => wire.reduce((done, each) => done + Math.min(parse(each).rows.length, 1), 0)],
  ['bound: sum the same rows', () => parsed.reduce((done, facts) => done + sumOne(facts), 0)],
];

const measured = measure(work, { runs, expected: invoiceCount });
const bound = measured.at(-1)!;
const posting = measured[0]!;
const verdict = posting.perSecond >= aim ? 'reached' : 'not reached';
const table = [
  '| what | invoices/s (median) | slowest – fastest run | µs each | of the bound’s speed |',
  '|---|---:|---:|---:|---:|',
  ...measured.map((each) => row(each, bound)),
];
const text = [
  ...machine(),
  '',
  `${invoiceCount} different invoices, three rows in two VAT groups each, one thread; median of ${runs} runs in`,
  `turns after a warm-up, per second of processor time. Aim: ${perSecond(aim)} invoices/s from parsed facts: ${verdict}.`,
  '',
  ...table,
].join('\n');
console.log(text);
writeSection('Posting core', text);

function row(each: Measured, to: Measured): string {
  const spread = `${perSecond(each.slowest)} – ${perSecond(each.fastest)}`;
  const share = `1/${(to.perSecond / each.perSecond).toFixed(1)}`;
  return `| ${each.name} | ${perSecond(each.perSecond)} | ${spread} | ${(1e6 / each.perSecond).toFixed(1)} | ${share} |`;
}
