import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money, zero } from '../../../src/domain/money.ts';
import { concernsErp, type HeldLine, type OurGroup, planItem } from '../../../src/erp/open-items/item-plan.ts';
import { runs } from '../../support/runs.ts';

const money = (text: string | number) => new Money(text);

/** `[unit, amount, reversed unit]`. The line's id is its unit's id. Units of payments begin with p, q or b. */
type Seed = [unit: string, amount: string, reverses?: string | undefined];

function line([unitId, amount, reverses = '']: Seed, matched: string | null = null, part = ''): HeldLine {
  const [account, party] = ['1700', 'client'];
  const isPayment = /^[pqb]/.test(unitId);
  const its = { unitId, line: 0, reverses: reverses || null, isPayment, account, part, amount: money(amount) };
  return { ...its, id: unitId, party, matched };
}

const plan = (lines: HeldLine[], ours: OurGroup[] = []) => planItem(lines, ours);

test('lines of different parts are never matched, and a group over two parts is undone', () => {
  const lines = [line(['a', '-100'], null, 'one'), line(['b', '-100'], null, 'two'), line(['u', '100'], null, 'two')];
  expect(plan(lines).match).toEqual([['b', 'u']]);
  const moved = lines.map((one) => (one.unitId === 'b' ? one : { ...one, matched: 'R1' }));
  const ours = [{ lineIds: ['a', 'u'], groupId: 'R1' }];
  expect(plan(moved, ours)).toMatchObject({ unmatch: [['a', 'u']], match: [['b', 'u']], keep: [] });
});

describe('lines that are matched', () => {
  test.each<[string, Seed[], string[][]]>([
    ['nothing of an open invoice', [['i', '100']], []],
    [
      'nothing of a partly paid one',
      [
        ['i', '100'],
        ['p', '-40'],
      ],
      [],
    ],
    [
      'an invoice with its payment',
      [
        ['i', '100'],
        ['p', '-100'],
      ],
      [['i', 'p']],
    ],
    [
      'with several',
      [
        ['i', '100'],
        ['p', '-60'],
        ['q', '-40'],
      ],
      [['i', 'p', 'q']],
    ],
    [
      'an entry with its reversal',
      [
        ['i', '100'],
        ['r', '-100', 'i'],
        ['j', '120'],
      ],
      [['i', 'r']],
    ],
    [
      'a correction and the payment that settles it',
      [
        ['i', '100'],
        ['r', '-100', 'i'],
        ['j', '120'],
        ['p', '-120'],
      ],
      [
        ['i', 'r'],
        ['j', 'p'],
      ],
    ],
    [
      'a payment with its cancellation, and not the invoice',
      [
        ['i', '9'],
        ['p', '-9'],
        ['q', '9'],
      ],
      [['p', 'q']],
    ],
    [
      'the latest before it',
      [
        ['i', '9'],
        ['p', '-4'],
        ['p2', '-4'],
        ['q', '4'],
      ],
      [['p2', 'q']],
    ],
    [
      'what is paid again',
      [
        ['i', '9'],
        ['p', '-9'],
        ['q', '9'],
        ['p2', '-9'],
      ],
      [
        ['p', 'q'],
        ['i', 'p2'],
      ],
    ],
    [
      'no overpayment',
      [
        ['i', '9'],
        ['p', '-9'],
        ['q', '-9'],
      ],
      [],
    ],
    [
      'a reversal that was undone: the invoice stands again',
      [
        ['i', '9'],
        ['r', '-9', 'i'],
        ['r2', '9', 'r'],
        ['p', '-9'],
      ],
      [
        ['i', 'r'],
        ['p', 'r2'],
      ],
    ],
    [
      'a payment that was taken back, and not the invoice',
      [
        ['i', '9'],
        ['p', '-9'],
        ['b', '9', 'p'],
      ],
      [['b', 'p']],
    ],
  ])('%s', (_, seeds, expected) => {
    const lines = seeds.map((seed) => line(seed));
    expect(plan(lines)).toMatchObject({ match: expected, unmatch: [], remark: null });
    expect(concernsErp(lines, [])).toBe(expected.length > 0);
  });

  test('never belong to several accounts or parties', () => {
    const moved = { ...line(['p', '-100']), account: '1709' };
    const other = { ...line(['p', '-100']), party: 'other' };
    for (const payment of [moved, other]) expect(plan([line(['i', '100']), payment]).match).toEqual([]);
    expect(concernsErp([line(['i', '100']), moved], [])).toBe(false);
  });
});

describe('groups that are undone', () => {
  const group: OurGroup = { lineIds: ['i', 'p'], groupId: 'G' };
  const paid = [line(['i', '100'], 'G'), line(['p', '-100'], 'G')];

  test('do not include groups whose lines are in force', () => {
    expect(plan(paid, [group])).toEqual({ match: [], unmatch: [], keep: [group], remark: null });
    const more = [...paid, line(['q', '-30'])];
    expect(plan(more, [group])).toMatchObject({ match: [], unmatch: [] });
    expect(plan([...more, line(['b', '30'])], [group])).toMatchObject({ match: [['b', 'q']], unmatch: [] });
  });

  test('include a group with a reversed line; both lines are then matched again', () => {
    const corrected = [...paid, line(['r', '-100', 'i']), line(['j', '100'])];
    expect(plan(corrected, [group])).toEqual({
      unmatch: [['i', 'p']],
      match: [
        ['i', 'r'],
        ['j', 'p'],
      ],
      keep: [],
      remark: null,
    });
  });

  test('include a group with a cancelled payment; the invoice is then open again', () => {
    expect(plan([...paid, line(['q', '100'])], [group])).toEqual({
      unmatch: [['i', 'p']],
      match: [['p', 'q']],
      keep: [],
      remark: null,
    });
  });

  test('do not include an overpaid invoice', () => {
    expect(plan([...paid, line(['q', '-100'])], [group])).toMatchObject({ unmatch: [], match: [] });
  });

  test('are recognised by their lines if their id was never read back', () => {
    const corrected = [...paid, line(['r', '-100', 'i'])];
    expect(plan(corrected, [{ lineIds: ['i', 'p'], groupId: null }]).unmatch).toEqual([['i', 'p']]);
  });
});

describe('groups that a user matched', () => {
  test('stay with a remark if they contain other lines', () => {
    const lines = [line(['i', '100'], 'H'), line(['p', '-100'])];
    expect(plan(lines)).toEqual({
      ...{ match: [], unmatch: [], keep: [] },
      remark: 'in the ERP, a user matched lines of i with other lines; vetledger does not change that match',
    });
  });

  test('stay without a remark if they equal our plan', () => {
    const lines = [line(['i', '100'], 'H'), line(['p', '-100'], 'H')];
    expect(plan(lines)).toEqual({ match: [], unmatch: [], keep: [], remark: null });
    expect(plan(lines, [{ lineIds: ['i', 'p'], groupId: 'G' }]).unmatch).toEqual([]);
  });

  test('stay after a correction; the other lines are matched with each other', () => {
    const lines = [line(['i', '100'], 'H'), line(['p', '-100'], 'H'), line(['r', '-100', 'i']), line(['j', '100'])];
    expect(plan(lines)).toMatchObject({ match: [['j', 'r']], unmatch: [], remark: null });
  });
});

/**
 * The receivable lines of an ERP with Tryton's rules: a group has free lines of one account and party, which add up to
 * zero.
 */
class Receivables {
  readonly lines: HeldLine[] = [];
  ours: OurGroup[] = [];
  readonly byHand = new Set<string>();
  #groups = 0;

  match(ids: readonly string[]): string {
    const members = this.lines.filter(({ id }) => ids.includes(id));
    const [first] = members;
    if (!first || members.length !== ids.length || members.length < 2) throw new Error(`no such lines: ${ids}`);
    for (const { matched, account, party } of members) {
      if (matched !== null) throw new Error('a line is matched already');
      if (account !== first.account || party !== first.party) throw new Error('of several accounts or parties');
    }
    if (!members.reduce((all, { amount }) => all.plus(amount), zero).isZero()) throw new Error('not zero');
    const name = `R${++this.#groups}`;
    for (const member of members) member.matched = name;
    return name;
  }

  unmatch(ids: readonly string[]): void {
    const names = new Set(this.lines.filter(({ id }) => ids.includes(id)).map(({ matched }) => matched));
    const [name] = names;
    if (names.size !== 1 || !name) throw new Error('not one group');
    for (const each of this.lines) if (each.matched === name) each.matched = null;
  }

  settle(): void {
    const { unmatch, match, keep } = planItem(copied(this.lines), this.ours);
    for (const ids of unmatch) this.unmatch(ids);
    this.ours = [...keep, ...match.map((lineIds) => ({ lineIds, groupId: this.match(lineIds) }))];
  }
}

const copied = (lines: HeldLine[]) => lines.map((each) => ({ ...each }));

type Step =
  | { do: 'post'; amount: number; side: number; pays: boolean }
  | { do: 'pay_open' }
  | { do: 'correct'; pick: number; amount: number | null }
  | { do: 'by_hand'; pick: number };

const amounts = fc.constantFrom(-50, -20, -10, 10, 20, 50, 100);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('post' as const), amount: amounts, side: fc.nat(3), pays: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'pay_open' }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('correct' as const), pick: fc.nat(), amount: fc.option(amounts) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('by_hand' as const), pick: fc.nat() }) },
  ),
  { minLength: 1, maxLength: 25 },
);

/** Two accounts and two parties, mostly the first of each, as after a change of the mapping or of the payer. */
const sideOf = (side: number) => ({ account: side === 1 ? '1701' : '1700', party: side === 2 ? 'b' : 'a' });

function apply(erp: Receivables, step: Step, n: number): void {
  const add = (unitId: string, amount: Money, side: { account: string; party: string | null }, reverses?: string) => {
    erp.lines.push({ ...line([unitId, amount.toFixed(), reverses]), account: side.account, party: side.party });
  };
  const reversed = new Set(erp.lines.map(({ reverses }) => reverses));
  const standing = erp.lines.filter(({ unitId, reverses }) => reverses === null && !reversed.has(unitId));
  if (step.do === 'post') add(`${step.pays ? 'p' : 'u'}${n}`, money(step.amount), sideOf(step.side));
  if (step.do === 'pay_open') {
    const side = sideOf(0);
    const open = erp.lines
      .filter(({ account, party }) => account === side.account && party === side.party)
      .reduce((all, { amount }) => all.plus(amount), zero);
    if (!open.isZero()) add(`p${n}`, open.negated(), side);
  }
  if (step.do === 'correct' && standing.length > 0) {
    const old = standing[step.pick % standing.length]!;
    add(`u${n}r`, old.amount.negated(), old, old.unitId);
    if (step.amount !== null) add(`u${n}`, money(step.amount), old);
  }
  if (step.do === 'by_hand') {
    // An accountant matches one open line with a line of the ERP.
    const open = erp.lines.filter(({ matched }) => matched === null);
    const chosen = open[step.pick % Math.max(1, open.length)];
    if (chosen) {
      chosen.matched = `hand ${n}`;
      erp.byHand.add(chosen.matched);
    }
  }
}

const isByHand = (erp: Receivables, { matched }: HeldLine) => matched !== null && erp.byHand.has(matched);
const totalOf = (lines: HeldLine[]) => lines.reduce((all, { amount }) => all.plus(amount), zero).toFixed();

test('after any deliveries and corrections, each group sums to zero, and all lines that sum to zero are matched', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.boolean()), (all, pauses) => {
      const erp = new Receivables();
      for (const [n, step] of all.entries()) {
        const before = new Map(erp.lines.map(({ id, matched }) => [id, matched]));
        apply(erp, step, n);
        // Several deliveries may happen between two checks.
        if (pauses[n]) continue;
        erp.settle();
        for (const each of erp.lines) {
          const matched = before.get(each.id) ?? '';
          if (erp.byHand.has(matched)) expect(each.matched).toBe(matched);
        }
      }
      erp.settle();
      for (const [name, members] of Map.groupBy(erp.lines, ({ matched }) => matched)) {
        if (name === null || erp.byHand.has(name)) continue;
        expect(totalOf(members)).toBe('0');
        // A reversed line is matched only with its reversal, unless an accountant matched that.
        const pairs = members.filter(({ reverses }) => members.some(({ unitId }) => unitId === reverses));
        if (pairs.length > 0) expect(members).toHaveLength(2);
      }
      for (const lines of Map.groupBy(erp.lines, ({ account, party }) => `${account} ${party}`).values()) {
        if (totalOf(lines) !== '0' || lines.some((each) => isByHand(erp, each))) continue;
        expect(lines.filter(({ matched }) => matched === null)).toEqual([]);
      }
      const { match, unmatch } = planItem(copied(erp.lines), erp.ours);
      expect([match, unmatch]).toEqual([[], []]);
    }),
    { numRuns: runs(1_000) },
  );
});
