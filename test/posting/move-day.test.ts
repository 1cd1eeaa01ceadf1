import { expect, test } from 'vitest';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { reversalOf } from '../../src/posting/correct.ts';
import { movedToDay } from '../../src/posting/move-day.ts';
import { draft } from '../ledger/drafts.ts';

const late = '2026-02-10';
const later = '2026-02-20';
const open = '2026-03-01';
const ref = '1/invoice/7';

function entry(n: number, date: string, amount: string): DraftEntry & { id: string } {
  const lines: Parameters<typeof draft>[0]['lines'] = [
    ['1700', 'receivable', amount],
    ['3000', 'revenue', `-${amount}`],
  ];
  return { ...draft({ kind: 'invoice', id: 7, date, inputHash: amount, lines }), id: `${ref}/${n}` };
}

const reversal = (n: number, of: DraftEntry & { id: string }, date: string) => ({
  ...reversalOf(of, date, 'source_changed'),
  id: `${ref}/${n}`,
});

const first = entry(1, late, '10.00');
const takenOut = reversal(2, first, late);
const second = entry(3, late, '12.00');
const takenOutLater = reversal(2, first, later);
const secondLater = entry(3, later, '12.00');

type Posted = DraftEntry & { id: string };
const cases: [string, { books: Posted[]; inForce: Posted | null; moved: Posted[] }, string[]][] = [
  ['the one in force', { books: [first], inForce: first, moved: [first] }, ['-10.00 late', '10.00 open']],
  ['an entry and its reversal', { books: [first, takenOut], inForce: null, moved: [first, takenOut] }, []],
  [
    'a corrected one with its correction',
    { books: [first, takenOut, second], inForce: second, moved: [first, takenOut, second] },
    ['-12.00 late', '12.00 open'],
  ],
  [
    'a voided one without its reversal',
    { books: [first, takenOut], inForce: null, moved: [first] },
    ['10.00 open', '-10.00 late'],
  ],
  [
    'a reversal without what it reverses',
    { books: [first, takenOut], inForce: null, moved: [takenOut] },
    ['10.00 late', '-10.00 open'],
  ],
  [
    'a corrected one without its correction',
    { books: [first, takenOutLater, secondLater], inForce: secondLater, moved: [first] },
    ['-12.00 open', '10.00 open', '-10.00 late', '12.00 open'],
  ],
  [
    'a correction without what it corrects',
    { books: [first, takenOut, second], inForce: second, moved: [takenOut, second] },
    ['-12.00 late', '10.00 late', '-10.00 open', '12.00 open'],
  ],
];

test.each(cases)('%s: leaves its day, stands on the open one, and what is in force stays so', (_, given, expected) => {
  const { books, inForce, moved } = given;
  const { drafts, moves } = movedToDay(open, { installation: 1, entryCount: books.length, inForce, moved });
  const names: Record<string, string> = { [late]: 'late', [open]: 'open' };
  expect(drafts.map((one) => `${receivable(one).toFixed(2)} ${names[one.date]}`)).toEqual(expected);

  // Each reversal must reverse the entry in force, so that a document never has two entries in force.
  let current = inForce?.id ?? null;
  for (const [index, one] of drafts.entries()) {
    expect(one.reverses).toBe(current);
    current = one.reverses === null ? `${ref}/${books.length + index + 1}` : null;
  }
  expect(current === null).toBe(inForce === null);
  if (inForce !== null && drafts.length > 0) expect(drafts.at(-1)).toMatchObject({ inputHash: inForce.inputHash });

  // Each moved entry and its reversal must cancel on its day, and the entry must be on the open day.
  const byId = new Map(drafts.map((one, index) => [`${ref}/${books.length + index + 1}`, one]));
  for (const move of moves) {
    const own = moved.find(({ id }) => id === move.moved)!;
    const [settledBy, successor] = [byId.get(move.settledBy)!, byId.get(move.successor)!];
    expect([settledBy.date, successor.date]).toEqual([own.date, open]);
    expect(receivable(settledBy).plus(receivable(own)).toFixed(2)).toBe('0.00');
    expect(receivable(successor).toFixed(2)).toBe(receivable(own).toFixed(2));
  }
  expect(drafts.filter(({ date }) => date !== open)).toHaveLength(moves.length);

  const on = (day: string, entries: readonly DraftEntry[]) =>
    entries.filter(({ date }) => date === day).reduce((sum, one) => sum.plus(receivable(one)), new Money(0));
  expect(on(late, drafts).plus(on(late, moved)).toFixed(2)).toBe('0.00');
  expect(on(open, drafts).toFixed(2)).toBe(on(late, moved).toFixed(2));
});

function receivable({ lines }: DraftEntry): Money {
  const line = lines.find(({ role }) => role === 'receivable')!;
  return line.side === 'debit' ? line.amount : line.amount.negated();
}
