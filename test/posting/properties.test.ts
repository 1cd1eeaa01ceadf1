import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { judge, post } from '../../src/posting/index.ts';
import type { InvoiceFacts } from '../../src/posting/types.ts';
import type { InvoiceRecord, RowRecord } from '../../src/records/types.ts';
import { runs } from '../support/runs.ts';
import {
  balances,
  contextOf,
  invoiceFacts,
  invoiceOf,
  money,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
  rowOf,
  signedAmount,
  vatGroup,
} from './support.ts';

const rates = ['0', '10', '14', '25.5'];
const tenThousandth = money('0.0001');

/** Consistent rows with up to 4 decimals: the total with VAT is net plus VAT, as in the source. */
const rowArbitrary = fc.record({
  account: fc.constantFrom('3000', '3010', '3100'),
  dimension: fc.constantFrom('SURG', null),
  rate: fc.constantFrom(...rates),
  net: fc.oneof(fc.integer({ min: -2_000_000, max: 2_000_000 }), fc.integer({ min: -99, max: 99 }), fc.constant(0)),
  vatError: fc.integer({ min: -20, max: 20 }),
});
const rowsArbitrary = fc.array(rowArbitrary, { minLength: 1, maxLength: 12 });
const decimalsArbitrary = fc.constantFrom(0, 2, 3);
type RowSeed = typeof rowArbitrary extends fc.Arbitrary<infer Seed> ? Seed : never;

function rowsOf(seeds: RowSeed[]): RowRecord[] {
  return seeds.map(({ account, dimension, rate, net, vatError }, index) => {
    const sum = tenThousandth.times(net);
    const exactVat = sum.times(rate).dividedBy(100).toDecimalPlaces(4, Money.ROUND_HALF_EVEN);
    const sumVat = rate === '0' ? money('0') : exactVat.plus(tenThousandth.times(vatError));
    return rowOf(account, sum.toFixed(), sumVat.toFixed(), sum.plus(sumVat).toFixed(), {
      id: 500 + index,
      dimensions: [dimension, null, null],
      vatGroup: vatGroup(rate),
    });
  });
}

/** The source's totals: each exact sum is rounded half-even separately. */
function invoiceWith(rows: RowRecord[], decimals: number, changes: Partial<InvoiceRecord> = {}): InvoiceFacts {
  const total = (field: 'sum' | 'sumVat' | 'sumTotal') =>
    rows
      .reduce((all, row) => all.plus(row[field]!), money('0'))
      .toDecimalPlaces(decimals, Money.ROUND_HALF_EVEN)
      .toFixed();
  return invoiceFacts(invoiceOf([total('sum'), total('sumVat'), total('sumTotal')], changes), rows);
}

/** The credit of every row in another order, with ids in that order. */
function creditOf(rows: RowRecord[], order: number[], decimals: number): InvoiceFacts {
  const negated = order.map((original, index) => {
    const row = rows[original]!;
    const [sum, sumVat, sumTotal] = [row.sum, row.sumVat, row.sumTotal].map((amount) => money('0').minus(amount!));
    return { ...row, id: 900 + index, sum: sum!, sumVat: sumVat!, sumTotal: sumTotal!, creditedRowId: row.id };
  });
  return invoiceWith(negated, decimals, { id: 2, creditNote: true, originalInvoiceId: 1 });
}

const shuffled = (length: number) =>
  fc.shuffledSubarray([...Array(length).keys()], { minLength: length, maxLength: length });

describe('any invoice with consistent rows', () => {
  test('is posted, balances to zero, and takes its totals', () => {
    fc.assert(
      fc.property(rowsArbitrary, decimalsArbitrary, (seeds, decimals) => {
        const facts = invoiceWith(rowsOf(seeds), decimals);
        const { state, entry } = judge(facts, contextOf({ decimals }));
        const { totalVat, totalWithVat } = facts.invoice;
        const of = (role: string) =>
          (entry?.lines ?? [])
            .filter((line) => line.role === role)
            .reduce((all, line) => all.plus(signedAmount(line)), money('0'));
        expect(['posted', 'nothing_to_post']).toContain(state);
        expect(of('receivable').equals(totalWithVat!)).toBe(true);
        expect(of('vat').plus(totalVat!).isZero()).toBe(true);
        expect(of('revenue').plus(totalWithVat!).minus(totalVat!).isZero()).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  test('has each line within one minor unit of the exact sum of its rows', () => {
    fc.assert(
      fc.property(rowsArbitrary, decimalsArbitrary, (seeds, decimals) => {
        const facts = invoiceWith(rowsOf(seeds), decimals);
        const unit = new Money(10).pow(-decimals);
        for (const line of judge(facts, contextOf({ decimals })).entry?.lines ?? []) {
          if (line.role === 'receivable') continue;
          const field = line.role === 'vat' ? 'sumVat' : 'sum';
          const rows = facts.rows.filter(({ id }) => line.rowIds.includes(id));
          const exact = rows.reduce((all, row) => all.plus(row[field]!), money('0'));
          expect(signedAmount(line).plus(exact).abs().lessThanOrEqualTo(unit)).toBe(true);
          expect(line.amount.decimalPlaces()).toBeLessThanOrEqual(decimals);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  test('carries bases that add up to its net lines, once per VAT group', () => {
    fc.assert(
      fc.property(rowsArbitrary, (seeds) => {
        const lines = judge(invoiceWith(rowsOf(seeds), 2), contextOf()).entry?.lines ?? [];
        const based = lines
          .filter(({ vat }) => vat?.base)
          .map((line) => (line.side === 'debit' ? line.vat!.base! : money('0').minus(line.vat!.base!)));
        const net = lines.filter(({ role }) => role === 'revenue').map(signedAmount);
        const add = (amounts: Money[]) => amounts.reduce((all, amount) => all.plus(amount), money('0')).toFixed(2);
        expect(add(based)).toBe(add(net));
      }),
    );
  });

  test('is undone to the cent on every account by its full credit note, whatever the order of its rows', () => {
    fc.assert(
      fc.property(
        rowsArbitrary.chain((seeds) => fc.tuple(fc.constant(seeds), shuffled(seeds.length))),
        decimalsArbitrary,
        ([seeds, order], decimals) => {
          const rows = rowsOf(seeds);
          const context = contextOf({ decimals });
          const entries = [invoiceWith(rows, decimals), creditOf(rows, order, decimals)].flatMap(
            (facts) => post(facts, nothingBefore, context).entries,
          );
          expect(balances(entries)).toEqual({});
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('has the same hash and lines when judged twice, its rows in any order', () => {
    fc.assert(
      fc.property(
        rowsArbitrary.chain((seeds) => fc.tuple(fc.constant(seeds), shuffled(seeds.length))),
        ([seeds, order]) => {
          const facts = invoiceWith(rowsOf(seeds), 2);
          const again = judge({ ...facts, rows: order.map((index) => facts.rows[index]!) }, contextOf());
          expect(again).toEqual(judge(facts, contextOf()));
        },
      ),
    );
  });
});

describe('bad data', () => {
  const amount = fc.oneof(
    fc.constant(null),
    fc.integer({ min: -1e9, max: 1e9 }).map((units) => money(`${units}e-5`)),
  );
  const date = fc.constantFrom(null, '', 'yesterday', '2026-02-30', '2026-01-15', '2026-01-15T22:30:00Z');
  const code = fc.constantFrom(null, -1, 0, 3, 6, 8, 13, 99);
  const text = fc.constantFrom(null, '', '3000', '__proto__', 'constructor');

  test('is held or judged, never thrown on, and nothing unbalanced comes of it', () => {
    const facts = fc.oneof(
      fc
        .record({
          total: amount,
          totalVat: amount,
          totalWithVat: amount,
          invoiceDate: date,
          dueDate: date,
          status: code,
          number: text,
          row: amount,
          account: text,
        })
        .map(({ row, account, ...invoice }) =>
          invoiceFacts(invoiceOf(['0', '0', '0'], invoice), [
            { ...rowOf(account, '0', '0', '0'), sum: row, vatGroup: null, sumTotal: row },
          ]),
        ),
      fc
        .record({ paymentType: code, paid: amount, dateAdded: date })
        .map((changes) => paymentFacts(paymentOf(0, '1', changes))),
      fc
        .record({ paymentType: code, paid: amount, created: date, status: text })
        .map((changes) => prepaymentFacts(0, '1', changes)),
    );
    fc.assert(
      fc.property(facts, fc.constantFrom(null, '2026-01-10', '2026-02-01'), (input, startDate) => {
        const { state, entries, problem } = post(input, nothingBefore, contextOf({ startDate }));
        expect(state === 'held').toBe(problem !== null);
        expect(state === 'posted').toBe(entries.length > 0);
        const total = entries
          .flatMap(({ lines }) => lines)
          .reduce((all, line) => all.plus(signedAmount(line)), money('0'));
        expect(total.isZero()).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });
});
