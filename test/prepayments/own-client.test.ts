import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { type OwnPrepayment, type OwnUse, ownClientMatches } from '../../src/prepayments/own-client.ts';

const day = (number: number) => `2026-10-${String(number).padStart(2, '0')}`;
const use = (paymentId: number, amount: string, on: number | null): OwnUse => ({
  ...{ paymentId, amount: new Money(amount) },
  usedOn: on === null ? null : day(on),
});
const prepaid = (prepaymentId: number, unexplained: string, on: number | null): OwnPrepayment => ({
  ...{ prepaymentId, unexplained: new Money(unexplained) },
  receivedOn: on === null ? null : day(on),
});
/** One line per match: `1 from 7: 50`; null if nothing is matched. */
const told = (uses: OwnUse[], prepayments: OwnPrepayment[]) =>
  ownClientMatches(uses, prepayments)
    ?.map(({ paymentId, prepaymentId, amount }) => `${paymentId} from ${prepaymentId}: ${amount.toFixed()}`)
    .sort() ?? null;

describe('own client first (R7)', () => {
  test.each<[name: string, uses: OwnUse[], prepayments: OwnPrepayment[], expected: string[] | null]>([
    [
      'example 16: the use takes from the prepayment that dropped, though another one has as much',
      [use(1, '180', 9)],
      [prepaid(7, '180', 1), prepaid(8, '0', 2)],
      ['1 from 7: 180'],
    ],
    [
      'two uses that are seen as one drop',
      [use(1, '119', 5), use(2, '81', 6)],
      [prepaid(7, '200', 1)],
      ['1 from 7: 119', '2 from 7: 81'],
    ],
    [
      'two prepayments with the same drop: by day, the oldest first',
      [use(1, '81', 5), use(2, '81', 4)],
      [prepaid(7, '81', 2), prepaid(8, '81', 1)],
      ['1 from 7: 81', '2 from 8: 81'],
    ],
    [
      'of one day: by id',
      [use(2, '81', 4), use(1, '81', 4)],
      [prepaid(8, '81', 1), prepaid(7, '81', 1)],
      ['1 from 7: 81', '2 from 8: 81'],
    ],
    [
      'from several, where one is not enough',
      [use(1, '100', 5)],
      [prepaid(7, '60', 1), prepaid(8, '40', 2)],
      ['1 from 7: 60', '1 from 8: 40'],
    ],
    [
      'the oldest with something left, and the next',
      [use(1, '30', 5), use(2, '70', 6)],
      [prepaid(7, '60', 1), prepaid(8, '40', 2)],
      ['1 from 7: 30', '2 from 7: 30', '2 from 8: 40'],
    ],
    ['paid on its day', [use(1, '81', 5)], [prepaid(7, '81', 5)], ['1 from 7: 81']],
    ['paid after its day: it finds none, and nothing is matched', [use(1, '81', 5)], [prepaid(7, '81', 6)], null],
    [
      'one that finds too little leaves all of them unmatched',
      [use(1, '50', 5), use(2, '80', 9)],
      [prepaid(7, '30', 1), prepaid(8, '100', 8)],
      null,
    ],
    ['the day of the use is not known', [use(1, '81', null)], [prepaid(7, '81', 1)], null],
    ['the day of a prepayment that it needs is not known', [use(1, '81', 5)], [prepaid(7, '81', null)], null],
    ['more was used than is unexplained', [use(1, '81', 5)], [prepaid(7, '80', 1)], null],
    ['less was used than is unexplained', [use(1, '81', 5)], [prepaid(7, '81', 1), prepaid(8, '1', 1)], null],
    ['no prepayment of its own', [use(1, '81', 5)], [], null],
    ['a cancellation of nothing that is known', [use(1, '81', 5), use(2, '-1', 6)], [prepaid(7, '80', 1)], null],
    ['more is explained than has dropped', [use(1, '50', 5)], [prepaid(7, '169', 1), prepaid(8, '-119', 1)], null],
    ['to the cent', [use(1, '0.01', 5)], [prepaid(7, '0.02', 1)], null],
    ['nothing used', [], [prepaid(7, '0', 1)], []],
  ])('%s', (_, uses, prepayments, expected) => {
    expect(told(uses, prepayments)).toEqual(expected);
    expect(told(uses.toReversed(), prepayments.toReversed())).toEqual(expected);
  });

  // The oracle lines up all cents of the prepayments, oldest first, and all cents of the uses by day and id. The n-th
  // used cent is the n-th paid cent. Nothing is matched if both lines differ in length, or if a cent was used before it
  // was paid.
  test('each cent used is the oldest cent that was paid', () => {
    const anyDay = fc.integer({ min: 1, max: 6 });
    const uses = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), anyDay), { maxLength: 5 });
    const prepayments = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), anyDay), { minLength: 1, maxLength: 4 });
    const [matched, refused] = [{ n: 0 }, { n: 0 }];
    fc.assert(
      fc.property(uses, prepayments, fc.boolean(), (used, paid, levelled) => {
        // In half of the worlds, the last prepayment's decrease is chosen so that the sums agree.
        const total = used.reduce((all, [cents]) => all + cents, 0);
        const others = paid.slice(0, -1).reduce((all, [cents]) => all + cents, 0);
        const [, lastDay] = paid.at(-1)!;
        const drops =
          levelled && total >= others ? [...paid.slice(0, -1), [total - others, lastDay] as [number, number]] : paid;
        const cents = (items: readonly [number, number][]) =>
          items
            .map(([amount, on], at) => ({ id: at + 1, amount, on }))
            .sort((a, b) => a.on - b.on || a.id - b.id)
            .flatMap(({ id, amount, on }) => Array.from({ length: amount }, () => ({ id, on })));
        const [ours, theirs] = [cents(used), cents(drops)];
        const fits = ours.length === theirs.length && ours.every(({ on }, at) => theirs[at]!.on <= on);
        const sums = new Map<string, number>();
        ours.forEach(({ id }, at) => {
          const key = `${id} from ${theirs[at]?.id}`;
          sums.set(key, (sums.get(key) ?? 0) + 1);
        });
        const expected = [...sums].map(([key, sum]) => `${key}: ${new Decimal(sum).dividedBy(100).toFixed()}`).sort();
        const amount = (sum: number) => new Decimal(sum).dividedBy(100).toFixed();
        const found = told(
          used.map(([sum, on], at) => use(at + 1, amount(sum), on)),
          drops.map(([sum, on], at) => prepaid(at + 1, amount(sum), on)),
        );
        expect(found).toEqual(fits ? expected : null);
        (fits && used.length > 0 ? matched : refused).n += 1;
      }),
      { numRuns: 500 },
    );
    expect(matched.n).toBeGreaterThan(30);
    expect(refused.n).toBeGreaterThan(30);
  });
});
