import { expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { type Candidate, type OpenUse, proposals } from '../../src/prepayments/propose-matches.ts';

const day = (number: number) => `2026-10-${String(number).padStart(2, '0')}`;
const use = (paymentId: number, clientId: number | null, amount: string, on: number | null): OpenUse => ({
  ...{ paymentId, clientId, invoiceId: 1, amount: new Money(amount) },
  usedOn: on === null ? null : day(on),
});
const candidate = (prepaymentId: number, clientId: number, left: string, on: number): Candidate => ({
  ...{ prepaymentId, clientId, left: new Money(left), receivedOn: day(on) },
});
const told = (uses: OpenUse[], all: Candidate[]) =>
  proposals(uses, all).map(({ paymentId, own, others }) => {
    const text = (of: Candidate[]) => of.map(({ prepaymentId, left }) => `${prepaymentId}: ${left.toFixed()}`);
    return [paymentId, text(own), text(others)];
  });

test.each<[name: string, uses: OpenUse[], all: Candidate[], expected: unknown[]]>([
  [
    'the client’s own, oldest first, though they have more left',
    [use(1, 1, '60', 5)],
    [candidate(8, 1, '50', 2), candidate(7, 1, '40', 1)],
    [[1, ['7: 40', '8: 20'], []]],
  ],
  [
    'what is proposed for one is not for the next, by day',
    [use(1, 1, '60', 6), use(2, 1, '60', 5)],
    [candidate(7, 1, '100', 1)],
    [
      [2, ['7: 60'], []],
      [1, [], []],
    ],
  ],
  [
    'others that cover it, least left first, where its own do not',
    [use(1, 1, '60', 5)],
    [candidate(7, 1, '50', 1), candidate(8, 2, '90', 1), candidate(9, 3, '60', 1), candidate(10, 4, '59', 1)],
    [[1, [], ['9: 60', '8: 90']]],
  ],
  [
    'none that was received later',
    [use(1, 1, '60', 5)],
    [candidate(7, 1, '60', 6), candidate(8, 2, '60', 6)],
    [[1, [], []]],
  ],
  [
    'a use of an unknown day, or of no client',
    [use(1, 1, '60', null), use(2, null, '60', 5)],
    [candidate(7, 1, '60', 1)],
    [
      [1, [], []],
      [2, [], ['7: 60']],
    ],
  ],
])('proposed is %s', (_, uses, all, expected) => {
  expect(told(uses, all)).toEqual(expected);
});
