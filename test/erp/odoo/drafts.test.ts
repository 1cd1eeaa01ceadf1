import { expect, test } from 'vitest';
import { ErpError } from '../../../src/erp/port.ts';
import type { OdooCall } from '../../../src/erp/targets/odoo/connection.ts';
import { withdrawDrafts } from '../../../src/erp/targets/odoo/drafts.ts';

const request = { signal: new AbortController().signal, priority: 0, attemptId: 'x' };

interface Move {
  id: number;
  name: string | false;
  state: 'draft' | 'posted';
  posted_before: boolean;
  /** True if another move has the next number. */
  isFollowed: boolean;
}

/** Odoo's moves with the rules for their deletion. A write can remove the number of any move, posted or not. */
class Moves {
  readonly sent: string[] = [];
  readonly #moves: Map<number, Move>;
  readonly #meanwhile: (moves: Map<number, Move>) => void;

  constructor(moves: (Pick<Move, 'id'> & Partial<Move>)[], meanwhile: (moves: Map<number, Move>) => void = () => {}) {
    const draft = { name: false, state: 'draft', posted_before: false, isFollowed: false } as const;
    this.#moves = new Map(moves.map((move) => [move.id, { ...draft, ...move }]));
    this.#meanwhile = meanwhile;
  }

  get left(): unknown[] {
    return [...this.#moves.values()].map(({ id, name, state }) => [id, name, state]);
  }

  async all() {
    return [...this.#moves.values()].filter(({ state }) => state === 'draft').map((move) => ({ ...move }));
  }

  async call(_doing: string, { method, ids = [] }: OdooCall) {
    this.sent.push(`${method} ${ids.join()}`);
    const moves = ids.flatMap((id) => this.#moves.get(id) ?? []);
    if (method === 'write') for (const move of moves) Object.assign(move, { name: '/', isFollowed: false });
    if (method !== 'unlink') return true;
    if (this.sent.length === 1) this.#meanwhile(this.#moves);
    const refuse = (text: string) => new ErpError('refused', text, { problem: 'erp_refused' });
    if (moves.some(({ state }) => state === 'posted')) throw refuse("You can't delete a posted journal item.");
    if (moves.some(({ isFollowed }) => isFollowed)) throw refuse('You cannot delete this entry: a number.');
    for (const id of ids) this.#moves.delete(id);
    return true;
  }
}

test('drafts are deleted in one request, and missing ones are left out', async () => {
  const odoo = new Moves([{ id: 7 }, { id: 8, name: 'MISC/1' }]);
  await withdrawDrafts(odoo, [7, 8, 9], request);
  expect([odoo.sent, odoo.left]).toEqual([['unlink 7,8'], []]);
  await withdrawDrafts(odoo, [7], request);
  expect(odoo.sent).toHaveLength(1);
});

test('a draft whose number has successors loses its number first', async () => {
  const odoo = new Moves([{ id: 7 }, { id: 8, name: 'MISC/1', isFollowed: true }]);
  await withdrawDrafts(odoo, [7, 8], request);
  expect([odoo.sent, odoo.left]).toEqual([['unlink 7,8', 'write 8', 'unlink 7,8'], []]);
});

test('a draft that a user posts meanwhile keeps its number', async () => {
  const odoo = new Moves([{ id: 7, name: 'MISC/1', isFollowed: true }, { id: 8 }], (moves) => {
    Object.assign(moves.get(7) ?? {}, { state: 'posted' });
  });
  await withdrawDrafts(odoo, [7, 8], request);
  expect(odoo.left).toEqual([[7, 'MISC/1', 'posted']]);
});

test('a draft that was posted before belongs to a user, and nothing is deleted', async () => {
  const odoo = new Moves([{ id: 7, name: 'MISC/1', posted_before: true }, { id: 8 }]);
  const error = await withdrawDrafts(odoo, [7, 8], request).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ means: 'refused', message: expect.stringContaining('MISC/1 (id 7)') });
  expect(odoo.sent).toEqual([]);
});

test('a refusal for another reason is passed on', async () => {
  const odoo = new Moves([{ id: 8 }]);
  const refused = new ErpError('refused', 'no');
  const refusing = { all: () => odoo.all(), call: () => Promise.reject(refused) };
  expect(await withdrawDrafts(refusing, [8], request).catch((thrown: unknown) => thrown)).toBe(refused);
});
