// VAT that the ERP computes. The oracle is in computing-erp.ts.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { taxedParts } from '../../src/erp/computed-vat.ts';
import type { ErpLine } from '../../src/erp/erp-entry.ts';
import { draft } from '../ledger/drafts.ts';
import { runs } from '../support/runs.ts';
import { accountOf, ledgerEntry, type Mode, modes, type Rounding, roundings, sums, told } from './computing-erp.ts';

describe('parts of bases, calculated by hand', () => {
  // 24 % of 0.23 is 0.0552 (0.06), of 0.03 is 0.0072 (0.01), of 99.74 is 23.9376 (23.94).
  // 25 % of 10.02 is 2.505. 24 % out of the gross amounts 10.00 and 9.99 is 1.9355 and 1.9335.
  test.each<[Mode, Rounding, rate: string, bases: string[], tax: string, parts: string]>([
    ['from_net', 'half_up', '25.5', ['100'], '25.50', '100.00+25.50'],
    ['from_net', 'half_up', '24', ['100'], '24.01', '0.23+0.06 0.03+0.01 99.74+23.94'],
    ['from_net', 'half_up', '24', ['-100'], '-24.01', '-0.23+-0.06 -0.03+-0.01 -99.74+-23.94'],
    ['from_net', 'half_up', '25', ['10.02'], '2.51', '10.02+2.51'],
    ['from_net', 'half_up', '25', ['-10.02'], '-2.51', '-10.02+-2.51'],
    ['from_net', 'half_even', '25', ['10.02'], '2.50', '10.02+2.50'],
    ['from_net', 'half_even', '25', ['10.02'], '2.51', '0.03+0.01 9.99+2.50'],
    ['from_net', 'half_up', '24', ['0.01'], '0.01', '0.03+0.01 -0.02+0.00'],
    ['from_net', 'half_up', '24', ['0.01', '5'], '1.20', '0.01+0.00 | 5.00+1.20'],
    ['from_net', 'half_up', '0', ['12.34'], '0', '12.34+0.00'],
    ['from_net', 'half_up', '0', ['12.34'], '0.01', 'none'],
    ['from_gross', 'half_up', '24', ['100'], '24.00', '100.00+24.00'],
    ['from_gross', 'half_up', '24', ['8.06'], '1.94', '8.06+1.94'],
    ['from_gross', 'half_up', '24', ['8.06'], '1.93', '8.06+1.93'],
    ['from_gross', 'half_up', '24', ['-8.06', '100'], '22.07', '-8.06+-1.93 | 100.00+24.00'],
  ])('%s %s: %s %% of %j is %s', (mode, rounding, rate, bases, tax, expected) => {
    const divisible = bases.map((net) => ({ net: new Money(net), mostParts: 6 }));
    const parts = taxedParts(divisible, new Money(tax), new Money(rate), { mode, rounding, decimals: 2 });
    const shown = parts?.map((each) =>
      each.map((part) => `${part.net.toFixed(2)}+${part.tax.toFixed(2).replace('-0.00', '0.00')}`).join(' '),
    );
    expect(shown?.join(' | ') ?? 'none').toBe(expected);
  });
});

const saleArbitrary = fc.record({
  tenths: fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.constantFrom(60, 70, 100, 120, 135, 140, 160, 190, 200, 210, 240, 250, 255),
  ),
  cents: fc.array(
    fc
      .oneof(fc.integer({ min: -2_000_000, max: 2_000_000 }), fc.integer({ min: -99, max: 99 }))
      .filter((each) => each !== 0),
    { minLength: 1, maxLength: 4 },
  ),
  off: fc.integer({ min: -1, max: 1 }),
});

/** An entry with sales at several rates. The VAT of each rate is the rounded VAT of the sum, or a cent beside it. */
function entryOf(sales: { tenths: number; cents: number[]; off: number }[]): LedgerEntry {
  const lines = [...Map.groupBy(sales, ({ tenths }) => tenths)].flatMap(([tenths, [sale]]) => {
    const { cents, off } = sale ?? { cents: [], off: 0 };
    const rate = new Money(tenths).div(10);
    const vat = { group: `${tenths}`, rate, base: null };
    const total = new Money(cents.reduce((all, each) => all + each, 0));
    const tax = total
      .times(rate)
      .div(100)
      .toDecimalPlaces(0)
      .plus(tenths === 0 ? 0 : off);
    const sold = cents.map((each, index): [string, 'revenue', string, object] => [
      `30${index % 2}0`,
      'revenue',
      new Money(-each).div(100).toFixed(2),
      { vat, dimensions: [index < 2 ? 'SURG' : null, null, null] },
    ]);
    if (tax.isZero()) return sold;
    const owed: [string, 'vat', string, object] = [accountOf(vat.group), 'vat', tax.div(-100).toFixed(2), { vat }];
    return [...sold, owed];
  });
  const owed = lines.reduce((all, [, , amount]) => all.plus(amount), new Money(0)).negated();
  const all = owed.isZero() ? lines : [['1700', 'receivable', owed.toFixed(2), {}] as const, ...lines];
  return ledgerEntry(draft({ kind: 'invoice', id: 1, date: '2026-01-15', lines: all as never }));
}

test('what the ERP computes for the sent lines is the entry, to the cent; a cent beside the rounded VAT is always reported', () => {
  fc.assert(
    fc.property(
      fc.array(saleArbitrary, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...modes),
      fc.constantFrom(...roundings),
      (sales, mode, rounding) => {
        const posting = entryOf(sales);
        const result = told({ kind: 'entry', posting }, mode, rounding);
        const isLarge = sales.every(({ cents }) => cents.some((each) => Math.abs(each) >= 2_000));
        if ('problems' in result) {
          expect(result.problems.map(({ code }) => code)).toEqual(['erp_vat_not_tellable']);
          expect(isLarge).toBe(false);
          return;
        }
        const { lines, sentLines = [] } = result.entry;
        expect(sums(sentLines, { mode, rounding })).toEqual(sums(lines));
        expect(sentLines.filter(({ amount }) => amount.lte(0))).toEqual([]);
        const sold = (of: readonly ErpLine[]) => of.filter(({ vat }) => vat?.part === 'base').length;
        expect(sold(sentLines)).toBeLessThanOrEqual(6 * sold(lines));
      },
    ),
    { numRuns: runs(5_000) },
  );
});
