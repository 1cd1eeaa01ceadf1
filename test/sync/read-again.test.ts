import { describe, expect, test } from 'vitest';
import { Rng } from '../../sandbox/src/rng.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import type { ListOptions } from '../../src/practice/client.ts';
import type { JsonObject } from '../../src/records/json.ts';
import { pullByIds } from '../../src/sync/by-id.ts';
import { PageReader } from '../../src/sync/read-again.ts';
import { useDatabase } from '../support/database.ts';
import { pullContextOf } from '../support/pull-context.ts';

const { db } = useDatabase();
const all = Array.from({ length: 400 }, (_, at) => 7 * (at + 1));
const everySeventh = all.filter((_, at) => at % 7 === 0);
let lastInstallation = 100;

type Order = 'by id' | 'highest id first' | 'oldest change first' | 'newest change first' | 'by chance';

/** A list of prepayments with writes. `weight` is the weight of its requests. */
function server(order: Order, lacks: readonly string[]) {
  const rng = new Rng(1, 'order');
  const changed = new Map(all.map((id) => [id, id]));
  let changes = 10_000;
  const state = { weight: 0, write: (id: number) => void changed.set(id, ++changes) };
  const orders: Record<Order, (a: number, b: number) => number> = {
    'by id': (a, b) => a - b,
    'highest id first': (a, b) => b - a,
    'oldest change first': (a, b) => changed.get(a)! - changed.get(b)!,
    'newest change first': (a, b) => changed.get(b)! - changed.get(a)!,
    'by chance': () => (rng.chance(0.5) ? 1 : -1),
  };
  const list = async (
    _kind: unknown,
    filters: Record<string, string>,
    pageSize: number | null,
    { page = 1 }: ListOptions = {},
  ) => {
    const size = pageSize ?? 50;
    state.weight += Math.ceil(size / 50);
    const bound = (filter: string, none: number) => (lacks.includes(filter) ? none : Number(filters[filter] ?? none));
    const [above, below] = [bound('id__gt', 0), bound('id__lt', Number.POSITIVE_INFINITY)];
    const matching = all.filter((id) => id > above && id < below).sort(orders[order]);
    const shown = matching.slice((page - 1) * size, page * size);
    if (page > 1 && shown.length === 0) throw new PracticeError('not_found', 'Invalid page', { status: 404 });
    const at = new Date();
    return {
      ...{ count: matching.length, sourceTime: at, sourceTimeAtMost: at, askedAt: at, answeredAt: at },
      ...{ clock: 'server' as const, weight: 1, pageSizeAsked: pageSize },
      results: shown.map((id) => {
        const value: JsonObject = { id, paid: '1.00', modified: '2026-03-02T10:00:00+02:00' };
        return { id, raw: JSON.stringify(value), value, whole: value } as never;
      }),
    };
  };
  return Object.assign(state, { list });
}

/** Reads each wanted id, writes it, and reads it again. Returns what each reading found. */
async function readAndWrite(source: ReturnType<typeof server>, wanted: readonly number[], isLarge: boolean) {
  const installation = ++lastInstallation;
  const context = pullContextOf({ db, installation, client: source as never });
  await pullByIds(pullContextOf({ db, installation, client: server('by id', []) as never }), 'prepayment', all);
  const reader = new PageReader(context, 'prepayment');
  const found = new Map<number, boolean>();
  const unread = new Set<number>();
  const left = new Set(wanted);
  const read = async (of: ReadonlySet<number>, isLargePage: boolean) => {
    const page = await reader.read(
      [...of].sort((a, b) => a - b),
      isLargePage,
    );
    for (const id of page.keys()) unread.delete(id);
    expect([...page.keys()].some((id) => of.has(id))).toBe(true);
    return page;
  };
  while (left.size > 0) {
    for (const [id, isFound] of await read(left, false)) {
      if (!left.delete(id)) continue;
      found.set(id, isFound);
      if (!isFound) continue;
      source.write(id);
      unread.add(id);
    }
  }
  while (unread.size > 0) await read(new Set(unread), isLarge);
  return found;
}

describe('a record is read before it is written and after it, at the weight of two readings of the list', () => {
  const lists = all.length / 50;
  test.each([
    ['by id', []],
    ['by id', ['id__lt']],
    ['highest id first', []],
    ['highest id first', ['id__lt']],
    ['highest id first', ['id__gt', 'id__lt']],
    ['oldest change first', []],
    ['oldest change first', ['id__lt']],
    ['oldest change first', ['id__gt', 'id__lt']],
    ['newest change first', ['id__lt']],
    ['newest change first', ['id__gt', 'id__lt']],
  ] as [Order, string[]][])('%s, without %j', async (order, lacks) => {
    for (const wanted of [all, everySeventh]) {
      const source = server(order, lacks);
      const found = await readAndWrite(source, wanted, true);
      expect([...found].sort(([a], [b]) => a - b)).toEqual(wanted.map((id) => [id, true]));
      // A page before the writes and one after them may show that the server has no ranges. Records that move to other
      // pages are searched.
      const moves = order === 'newest change first' || (order === 'oldest change first' && wanted !== all);
      expect(source.weight).toBeLessThanOrEqual((moves ? 3.5 : 2) * lists + 8);
    }
  });

  test('in an order of chance each is read all the same', async () => {
    const found = await readAndWrite(server('by chance', ['id__lt']), everySeventh, true);
    expect([...found.values()]).toEqual(everySeventh.map(() => true));
  });

  test.each([[[] as string[]], [['id__lt']], [['id__gt', 'id__lt']]])(
    'without %j, what is not there is found missing',
    async (lacks) => {
      for (const order of ['by id', 'highest id first'] as const) {
        const wanted = [all[3]!, all[3]! + 1, all[200]!, all[399]! + 7];
        const found = await readAndWrite(server(order, lacks), wanted, true);
        expect([...found].sort(([a], [b]) => a - b)).toEqual(wanted.map((id) => [id, all.includes(id)]));
      }
    },
  );
});
