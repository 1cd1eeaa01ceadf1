import { expect, test } from 'vitest';
import { entryDefect, lineOf, reversedLines } from '../../src/domain/entry.ts';
import { formatMoney, minorUnitDecimals, parseMoney } from '../../src/domain/money.ts';
import { money } from '../posting/support.ts';

const line = (amount: string) =>
  lineOf(money(amount), { account: '1', role: 'cash', rule: 'R4', mappedBy: 'roles.cash' })!;

test('a negative amount is written on the other side, zero not at all', () => {
  expect(line('5.00')).toMatchObject({ side: 'debit', amount: money('5') });
  expect(line('-5.00')).toMatchObject({ side: 'credit', amount: money('5') });
  expect(lineOf(money('-0.0'), { account: '1', role: 'cash', rule: 'R4', mappedBy: 'roles.cash' })).toBeNull();
});

test.each([
  ['balanced', ['1.00', '-0.40', '-0.60'], 2, null],
  ['one cent off', ['1.00', '-0.99'], 2, 'its debits and credits differ by 0.01'],
  ['more decimals than the currency', ['0.005', '-0.005'], 2, 'its line on 1 has too many decimals'],
  ['three decimals where the currency has them', ['0.005', '-0.005'], 3, null],
  ['without decimals', ['1.5', '-1.5'], 0, 'its line on 1 has too many decimals'],
  ['empty', [], 2, 'it has no lines'],
] as const)('P5: %s', (_, amounts, decimals, defect) => {
  expect(entryDefect({ lines: amounts.map(line) }, decimals)).toBe(defect);
});

test('P5: a line must be positive', () => {
  const lines = [
    { ...line('1'), amount: money('-1') },
    { ...line('-1'), amount: money('-1') },
  ];
  expect(entryDefect({ lines }, 2)).toBe('its line on 1 is not positive');
});

test('a reversal stands on the other side', () => {
  expect(reversedLines([line('1'), line('-2')]).map(({ side }) => side)).toEqual(['credit', 'debit']);
});

test.each([
  ['12.50', '12.5'],
  ['-0.0', '0'],
  ['1e2', '100'],
  ['.5', '0.5'],
  ['0.1000000000000000055', '0.1000000000000000055'],
  ['', null],
  ['1,5', null],
  ['NaN', null],
  ['0x10', null],
])('decimal text %s', (text, expected) => {
  expect(parseMoney(text)?.toFixed() ?? null).toBe(expected);
});

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
])('%s has %i decimals', (currency, decimals) => {
  expect(minorUnitDecimals(currency)).toBe(decimals);
  expect(() => formatMoney(money('0.0001'), decimals)).toThrow(RangeError);
});
