import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DraftEntry, type LedgerEntry, type Line, reversedLines } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import type { ErpEntry } from '../../src/erp/erp-entry.ts';
import { translate } from '../../src/erp/translate.ts';
import type { GeneralLedgerUnit } from '../../src/ledger/general-ledger.ts';
import { summarise } from '../../src/ledger/summaries/summary.ts';
import { judge } from '../../src/posting/index.ts';
import { recordedSummary } from '../ledger/drafts.ts';
import {
  contextOf,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  money,
  rowOf,
  signedAmount,
  vatGroup,
} from '../posting/support.ts';
import { runs } from '../support/runs.ts';
import { capabilitiesOf } from './capabilities.ts';

const installation = 4711;
const mapping = mappingOf({
  erp: {
    // Two VAT groups share a code, so their bases and taxes add up.
    vat_codes: { 'VAT25.5': 'general', VAT14: 'low', VAT10: 'low', VAT0: 'zero', '*': 'other' },
    journals: { '*': 'J' },
    collective_party: 'ALL',
  },
});
const codes: Record<string, string> = { 'VAT25.5': 'general', VAT14: 'low', VAT10: 'low', VAT0: 'zero' };

const rowArbitrary = fc.record({
  account: fc.constantFrom('3000', '3010', '3100'),
  dimension: fc.constantFrom('SURG', null),
  rate: fc.constantFrom('0', '10', '14', '25.5'),
  net: fc.oneof(fc.integer({ min: -2_000_000, max: 2_000_000 }), fc.integer({ min: -99, max: 99 })),
});
const invoicesArbitrary = fc.array(fc.array(rowArbitrary, { minLength: 1, maxLength: 9 }), {
  minLength: 1,
  maxLength: 5,
});
type RowSeed = typeof rowArbitrary extends fc.Arbitrary<infer Seed> ? Seed : never;

/** Posts rows of up to 4 decimals; null if there is nothing to post. */
function posted(seeds: RowSeed[], id: number): DraftEntry | null {
  const rows = seeds.map(({ account, dimension, rate, net }) => {
    const sum = money('0.0001').times(net);
    const vat = sum.times(rate).dividedBy(100).toDecimalPlaces(4, Money.ROUND_HALF_EVEN);
    const dimensions: [string | null, null, null] = [dimension, null, null];
    return rowOf(account, sum.toFixed(), vat.toFixed(), sum.plus(vat).toFixed(), {
      dimensions,
      vatGroup: vatGroup(rate),
    });
  });
  const all = (field: 'sum' | 'sumVat' | 'sumTotal') =>
    rows
      .reduce((sum, row) => sum.plus(row[field]!), money('0'))
      .toDecimalPlaces(2, Money.ROUND_HALF_EVEN)
      .toFixed();
  const invoice = invoiceOf([all('sum'), all('sumVat'), all('sumTotal')], { id });
  return judge(invoiceFacts(invoice, rows), contextOf()).entry;
}

function ledgerEntry(entry: DraftEntry, n = 1): LedgerEntry {
  const id = `${installation}/invoice/${entry.document.id}/${n}`;
  const chain = { seq: entry.document.id * 2 + n, idempotencyKey: '', previousHash: '', hash: id };
  const posted = { postingMode: 'document' as const, vatPeriod: '2026-01', isLate: false, mappingHash: null };
  return { ...entry, id, installation, n, ...posted, ...chain };
}

function translated(unit: GeneralLedgerUnit): ErpEntry {
  const result = translate(unit, { databaseId: 'db', mapping, capabilities: capabilitiesOf() });
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.entry;
}

type Report = Map<string, Money>;

function add(report: Report, name: string, amount: Money): void {
  report.set(name, (report.get(name) ?? money('0')).plus(amount));
}

function shown(report: Report): [string, string][] {
  return [...report]
    .flatMap(([name, amount]) => (amount.isZero() ? [] : [[name, amount.toFixed()] as [string, string]]))
    .sort();
}

/** Adds up the VAT report like an ERP: debit-positive bases and taxes per code. */
function reportOf(entries: ErpEntry[]): [string, string][] {
  const report: Report = new Map();
  for (const { side, amount, vat } of entries.flatMap(({ lines }) => lines)) {
    if (vat === null) continue;
    const directed = (of: Money) => (side === 'debit' ? of : money('0').minus(of));
    add(report, `${vat.code} ${vat.part}`, directed(amount));
    if (vat.base !== null) add(report, `${vat.code} base`, directed(vat.base));
  }
  return shown(report);
}

/** Adds up the books: the bases of all lines, and the tax of the VAT lines. */
function booksOf(lines: Line[]): [string, string][] {
  const report: Report = new Map();
  for (const line of lines) {
    if (line.vat === null) continue;
    const code = codes[line.vat.group ?? ''];
    const direction = line.side === 'debit' ? money('1') : money('-1');
    if (line.vat.base !== null) add(report, `${code} base`, line.vat.base.times(direction));
    if (line.role === 'vat') add(report, `${code} tax`, signedAmount(line));
  }
  return shown(report);
}

test('per code, base and tax of what is delivered are those of the books: entries, reversals and summaries', () => {
  fc.assert(
    fc.property(invoicesArbitrary, (invoices) => {
      const entries = invoices
        .flatMap((seeds, index) => posted(seeds, index + 1) ?? [])
        .map((entry) => ledgerEntry(entry));
      const reversals = entries.map((entry) => ({
        ...ledgerEntry(entry, 2),
        reverses: entry.id,
        lines: reversedLines(entry.lines),
      }));
      for (const entry of [...entries, ...reversals]) {
        expect(reportOf([translated({ kind: 'entry', posting: entry })])).toEqual(booksOf(entry.lines));
      }
      const summaries = summarise([...entries, ...reversals.slice(0, 1)]).map((summary) =>
        translated({ kind: 'daily_summary', posting: recordedSummary(summary, installation, 'summary') }),
      );
      const lines = [...entries, ...reversals.slice(0, 1)].flatMap((entry) => entry.lines);
      expect(reportOf(summaries)).toEqual(booksOf(lines));
    }),
    { numRuns: runs(300) },
  );
});

test('accounts, sides and amounts are the unit’s own, and base and tax stand on no other line', () => {
  fc.assert(
    fc.property(invoicesArbitrary, (invoices) => {
      for (const [index, seeds] of invoices.entries()) {
        const entry = posted(seeds, index + 1);
        if (entry === null) continue;
        const { lines } = translated({ kind: 'entry', posting: ledgerEntry(entry) });
        expect(lines.map(({ account, side, amount }) => [account, side, amount.toFixed()])).toEqual(
          entry.lines.map(({ account, side, amount }) => [account, side, amount.toFixed()]),
        );
        expect(lines.map(({ role, vat }) => [role, vat?.part ?? null, vat?.base ?? null])).toEqual(
          entry.lines.map(({ role }) => [role, role === 'revenue' ? 'base' : role === 'vat' ? 'tax' : null, null]),
        );
      }
    }),
    { numRuns: runs(100) },
  );
});
