import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import { pairsOf } from '../../../src/erp/targets/files/pairs.ts';
import type { Side } from '../../../src/terms.ts';

const line = (account: string, side: Side, cents: number) => ({
  ...{ account, side, role: 'receivable' as const, amount: new Money(cents).div(100) },
});
const shown = (lines: ReturnType<typeof line>[]) =>
  pairsOf(lines)?.map(
    ({ line: { account }, against, amount }) => `${account}/${against.account} ${amount.toFixed(2)}`,
  ) ?? null;

test('accounts that are on both sides are split so that each has a partner', () => {
  // A day with a paid sale and its refund: in order, the first account would be left with itself.
  const lines = [
    line('1361', 'debit', 100),
    line('8200', 'debit', 100),
    line('1400', 'debit', 200),
    line('1361', 'credit', 100),
    line('8200', 'credit', 100),
    line('1400', 'credit', 200),
  ];
  expect(shown(lines)).toEqual(['1361/1400 1.00', '8200/1400 1.00', '1400/1361 1.00', '1400/8200 1.00']);
});

test('an account with more than the half of all amounts cannot be paired', () => {
  expect(
    shown([line('1', 'debit', 2), line('2', 'debit', 1), line('1', 'credit', 2), line('2', 'credit', 1)]),
  ).toBeNull();
});

const transfers = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 999 })), {
  minLength: 1,
  maxLength: 12,
});

test('sums of balanced pairs can be split into pairs again', () => {
  fc.assert(
    fc.property(transfers, fc.infiniteStream(fc.nat(1000)), (amounts, order) => {
      const sums = new Map<string, number>();
      const add = (key: string, cents: number) => sums.set(key, (sums.get(key) ?? 0) + cents);
      for (const [from, distance, cents] of amounts) {
        add(`${from} debit`, cents);
        add(`${(from + distance) % 6} credit`, cents);
      }
      const lines = [...sums].map(([key, cents]) => {
        const [account = '', side] = key.split(' ');
        return { line: line(account, side as Side, cents), at: order.next().value as number };
      });
      const sorted = lines.toSorted((a, b) => a.at - b.at).map((each) => each.line);
      const pairs = pairsOf(sorted);
      expect(pairs).not.toBeNull();
    }),
    { numRuns: 2000 },
  );
});
