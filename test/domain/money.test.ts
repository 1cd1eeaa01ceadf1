import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money, moneyOfDigits, parseMoney, sum } from '../../src/domain/money.ts';

const cents = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });

function textOf(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

describe('amounts of digits', () => {
  test('are right, however many were made before', () => {
    // The loop uses more amounts than the cache keeps, twice.
    for (const turn of [1, 2]) {
      for (let n = 1; n <= 12_000; n += 1) {
        if (moneyOfDigits(`${n}.50`).toFixed(2) !== `${n}.50`) throw new Error(`${n}.50 is wrong in turn ${turn}`);
        if (moneyOfDigits(n / 4).toString() !== String(n / 4)) throw new Error(`${n / 4} is wrong in turn ${turn}`);
      }
    }
  });

  test('a text and a number of the same digits are equal', () => {
    expect(moneyOfDigits('87.5').equals(moneyOfDigits(87.5))).toBe(true);
    expect(moneyOfDigits('87.50').equals(moneyOfDigits(87.5))).toBe(true);
  });

  test.each([
    ['12.50', '12.5'],
    [' -7 ', '-7'],
    ['-0.00', '0'],
    ['0012.5', '12.5'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['123456789012345.123456789012345', '123456789012345.123456789012345'],
    ['1e2', '100'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1234567890123456789012345678901', null],
    ['12,50', null],
    ['--1', null],
    ['', null],
  ])('%j is read as %j', (text, expected) => {
    // The second time, the amount comes from the cache.
    for (const amount of [parseMoney(text), parseMoney(text)]) expect(amount?.toFixed() ?? null).toBe(expected);
  });
});

describe('sums', () => {
  test('are exact', () => {
    fc.assert(
      fc.property(fc.array(cents), (amounts) => {
        const total = amounts.reduce((all, each) => all + each, 0n);
        expect(sum(amounts.map((each) => new Money(textOf(each)))).toFixed(2)).toBe(textOf(total));
      }),
    );
  });

  test.each([[[]], [['0']], [['-0']], [['-0', '-0']], [['1', '-1']], [['-1', '1', '-0']]])(
    'zero has no sign: of %j',
    (amounts) => {
      const total = sum(amounts.map((each) => new Money(each)));
      expect([total.isZero(), total.isNegative()]).toEqual([true, false]);
    },
  );
});
