import { describe, expect, test } from 'vitest';
import { settle } from '../../src/posting/settle.ts';
import { money } from './support.ts';

/** Groups as `amount#tie` in the given order; `-` for an unreachable target. */
const cases: [
  what: string,
  decimals: number,
  flip: boolean,
  groups: string[],
  target: string,
  settled: string[] | null,
][] = [
  ['nothing to settle', 2, false, ['10.00#1', '20.00#2'], '30.00', ['10.00', '20.00']],
  ['the largest remainder gets the cent', 2, false, ['33.3333#1', '66.6666#2'], '100.00', ['33.33', '66.67']],
  ['two cents to the two largest', 2, false, ['0.009#1', '0.001#2', '0.008#3'], '0.02', ['0.01', '0.00', '0.01']],
  ['a tie goes to the lowest row', 2, false, ['1.005#9', '1.005#3'], '2.01', ['1.00', '1.01']],
  ['a cent too many from the smallest', 2, false, ['25.25#1'], '25.24', ['25.24']],
  ['taking: a tie from the last row', 2, false, ['1.00#1', '1.00#3', '1.00#2'], '2.99', ['1.00', '0.99', '1.00']],
  ['taking two', 2, false, ['1.00#1', '1.00#3', '1.00#2'], '2.98', ['1.00', '0.99', '0.99']],
  ['every group up', 2, false, ['1.001#1', '1.002#2'], '2.02', ['1.01', '1.01']],
  ['a negative group rounds down, too', 2, false, ['10.005#1', '-0.005#2'], '10.00', ['10.01', '-0.01']],
  ['negative, not flipped', 2, false, ['-33.3333#1', '-66.6667#2'], '-100.00', ['-33.33', '-66.67']],
  [
    'flipped: the mirror of its invoice',
    2,
    true,
    ['-33.3333#1', '-33.3333#2', '-33.3334#3'],
    '-100.00',
    ['-33.33', '-33.33', '-33.34'],
  ],
  ['flipped tie: the lowest row as on the invoice', 2, true, ['-1.005#9', '-1.005#3'], '-2.01', ['-1.00', '-1.01']],
  ['no decimals', 0, false, ['33.3333#1', '33.3333#2', '33.3333#3'], '100', ['34', '33', '33']],
  ['no decimals, flipped', 0, true, ['-0.5#1', '-0.5#2'], '-1', ['-1', '0']],
  ['three decimals', 3, false, ['0.3333#1', '0.3333#2', '0.3334#3'], '1.000', ['0.333', '0.333', '0.334']],
  ['three decimals, taking', 3, false, ['1.500#1', '2.500#2'], '3.999', ['1.500', '2.499']],
  ['no groups, nothing wanted', 2, false, [], '0.00', []],
  ['no groups, something wanted', 2, false, [], '0.01', null],
  ['more cents than groups', 2, false, ['1.001#1'], '1.02', null],
  ['taking would move a line by more than a cent', 2, false, ['25.2549#1'], '25.24', null],
  ['a target finer than the minor unit', 2, false, ['1.00#1'], '1.005', null],
];

describe('settling the cents', () => {
  test.each(cases)('%s', (_, decimals, flip, groups, target, settled) => {
    const parsed = groups.map((group) => {
      const [exact, tie] = group.split('#');
      return { exact: money(exact!), tie: Number(tie) };
    });
    expect(
      settle(parsed, money(target), decimals, flip)?.map(({ amount }) => amount.toFixed(decimals)) ?? null,
    ).toEqual(settled);
  });
});
