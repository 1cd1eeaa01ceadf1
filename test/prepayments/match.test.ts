import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { adjusted, type Change, provenMatches, type Use } from '../../src/prepayments/match.ts';

const at = (minute: number) => Date.parse('2026-01-15T12:00:00Z') + minute * 60_000;

/** A decrease such as `7: 50.00 of client 1, between minute 0 and 10`. By default the time is unbounded. */
const change = (prepaymentId: number, amount: string, clientId: number, since?: number, until?: number): Change => ({
  ...{ prepaymentId, n: 1, clientId, amount: new Money(amount) },
  ...{ sinceMs: since === undefined ? null : at(since), untilMs: until === undefined ? null : at(until) },
});
const use = (paymentId: number, amount: string, clientId: number | null, minute?: number): Use => ({
  ...{ paymentId, amount: new Money(amount), clientId },
  recordedMs: minute === undefined ? null : at(minute),
});
const told = (uses: Use[], changes: Change[]) =>
  Object.fromEntries(
    [...provenMatches(uses, changes)].map(([id, set]) => [
      id,
      set
        .map((each) => each.prepaymentId)
        .sort()
        .join(' '),
    ]),
  );

describe('what a payment of type 8 used', () => {
  test.each<[name: string, uses: Use[], changes: Change[], expected: Record<string, string>]>([
    ['the one prepayment that dropped by its amount', [use(1, '81', 1)], [change(7, '81', 1)], { 1: '7' }],
    ['of another client than the invoice’s', [use(1, '81', 1)], [change(7, '81', 2), change(8, '80', 1)], { 1: '7' }],
    ['none', [use(1, '81', 1)], [change(7, '80', 1)], {}],
    ['two of the same amount', [use(1, '81', 1)], [change(7, '81', 1), change(8, '81', 2)], {}],
    [
      'two that add up, of the invoice’s client',
      [use(1, '81', 1)],
      [change(7, '50', 1), change(8, '31', 1)],
      { 1: '7 8' },
    ],
    ['two that add up, of other clients', [use(1, '81', 1)], [change(7, '50', 2), change(8, '31', 2)], {}],
    ['one, or two that add up', [use(1, '81', 1)], [change(7, '50', 1), change(8, '31', 1), change(9, '81', 2)], {}],
    [
      'two drops of one prepayment are one set',
      [use(1, '50', 1)],
      [change(7, '50', 1), { ...change(7, '50', 1), n: 2 }],
      { 1: '7' },
    ],
    ['two uses of one drop', [use(1, '81', 1), use(2, '81', 2)], [change(7, '81', 1)], {}],
    [
      'what another one used is out of the question',
      [use(1, '50', 1), use(2, '81', 2)],
      [change(7, '50', 1, 0, 5), change(8, '31', 1), change(9, '81', 2)],
      { 1: '7', 2: '9' },
    ],
    [
      'the time of recording tells which of two drops',
      [use(1, '50', 1, 3), use(2, '50', 2, 20)],
      [change(7, '50', 1, 0, 4), change(8, '50', 2, 10, 21)],
      { 1: '7', 2: '8' },
    ],
    [
      'a drop of before, or a prepayment of after, is none',
      [use(1, '50', 1, 10)],
      [change(7, '50', 1, 0, 9), change(8, '50', 1, 11, 20)],
      {},
    ],
    [
      'the first can only be of one once the second is known',
      [use(1, '50', 1, 3), use(2, '50', 2, 20)],
      [change(7, '50', 1, 0, 4), change(8, '50', 2, 0, 21)],
      { 1: '7', 2: '8' },
    ],
  ])('%s', (_, uses, changes, expected) => {
    expect(told(uses, changes)).toEqual(expected);
    expect(told(uses.toReversed(), changes.toReversed())).toEqual(expected);
  });

  test('more changes of a client than can be tried are no set; one that equals is', () => {
    const changes = Array.from({ length: 13 }, (_, n) => change(n + 1, '1', 1));
    expect(told([use(1, '13', 1)], changes)).toEqual({});
    expect(told([use(1, '12', 1)], changes.slice(1))).toEqual({ 1: '10 11 12 13 2 3 4 5 6 7 8 9' });
    expect(told([use(1, '14', 1)], [...changes, change(99, '14', 1)])).toEqual({ 1: '99' });
  });

  test('neither order decides', () => {
    const amounts = fc.integer({ min: 1, max: 6 });
    const clients = fc.integer({ min: 1, max: 2 });
    const minutes = fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined });
    const anyUses = fc.array(fc.tuple(amounts, clients, minutes), { maxLength: 6 });
    const anyChanges = fc.array(fc.tuple(amounts, clients, minutes, minutes), { maxLength: 6 });
    fc.assert(
      fc.property(anyUses, anyChanges, fc.infiniteStream(fc.nat()), (madeUses, madeChanges, order) => {
        const uses = madeUses.map(([amount, client, minute], id) => use(id, String(amount), client, minute));
        const changes = madeChanges.map(([amount, client, a, b], id) => change(id, String(amount), client, a, b));
        const shuffled = <T>(items: T[]) =>
          items
            .map((item) => [order.next().value as number, item] as const)
            .sort(([a], [b]) => a - b)
            .map(([, item]) => item);
        const found = told(uses, changes);
        expect(told(shuffled(uses), shuffled(changes))).toEqual(found);
        // No decrease is used twice, and each use has exactly its amount.
        const all = [...provenMatches(uses, changes)];
        const taken = all.flatMap(([, set]) => set);
        expect(new Set(taken).size).toBe(taken.length);
        for (const [id, set] of all) {
          const total = set.reduce((sum, { amount }) => sum.plus(amount), new Money(0));
          expect(total.toFixed()).toBe(uses[id]?.amount.toFixed());
        }
      }),
    );
  });
});

describe('the changes of a prepayment', () => {
  const of = (...amounts: string[]) => amounts.map((amount, at) => ({ n: at + 1, amount: new Money(amount) }));
  test.each<[string, ReturnType<typeof of>, string, object]>([
    ['the first', [], '81', { added: '81', removed: [], reduced: null }],
    ['one more', of('81'), '200', { added: '119', removed: [], reduced: null }],
    ['as they are', of('81', '119'), '200', { added: null, removed: [], reduced: null }],
    ['one of them is explained', of('81', '119'), '119', { added: null, removed: [1], reduced: null }],
    ['the latest go', of('10', '20', '30'), '25', { added: null, removed: [3], reduced: { n: 2, amount: '15' } }],
    ['all of them', of('10', '20'), '0', { added: null, removed: [2, 1], reduced: null }],
    ['more is explained than dropped', of('10'), '-5', { added: null, removed: [1], reduced: null }],
  ])('%s', (_, changes, unexplained, expected) => {
    const { added, removed, reduced } = adjusted(changes, new Money(unexplained));
    expect({
      ...{ added: added?.toFixed() ?? null, removed },
      reduced: reduced && { n: reduced.n, amount: reduced.amount.toFixed() },
    }).toEqual(expected);
  });
});
