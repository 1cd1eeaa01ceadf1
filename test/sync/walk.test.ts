import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListAnswer } from '../../src/practice/client.ts';
import { pageSizeFor } from '../../src/sync/walk/page-size.ts';
import { FilterIgnored, ListUnprovable, type WalkState } from '../../src/sync/walk/types.ts';
import { walk } from '../../src/sync/walk/walk.ts';
import { answerOf, shuffle } from '../support/practice-list.ts';
import { runs } from '../support/runs.ts';

type Order = 'ascending' | 'descending' | 'random' | 'shuffled once';

interface ServerOptions {
  ids: number[];
  order: Order;
  ignored?: string[];
  defaultPageSize?: number;
  maxPageSize?: number;
  /** Every nth record of a page is shown twice, and the count ignores the copies. */
  showsTwice?: number;
  /** The list calls this before each answer. A test uses it to change the list during the walk. */
  before?: (server: ListServer, question: number) => void;
}

/** A list in memory with the specification's pagination, and variations where it is silent. */
class ListServer {
  ids: number[];
  questions: { filters: Record<string, string>; pageSize: number | null; page: number }[] = [];
  weight = 0;
  private readonly options: ServerOptions;
  private seed = 7;

  constructor(options: ServerOptions) {
    this.options = options;
    this.ids = options.order === 'shuffled once' ? this.shuffled(options.ids) : [...options.ids];
  }

  answer(filters: Record<string, string>, pageSize: number | null, page = 1): ListAnswer {
    this.options.before?.(this, this.questions.length);
    this.questions.push({ filters, pageSize, page });
    const { order, ignored = [], defaultPageSize = 50, maxPageSize = 1000 } = this.options;
    const answer = answerOf(
      this.ids.map((id) => ({ id, raw: `{"id":${id}}`, value: { id } })),
      { filters, pageSize, page },
      {
        isHonoured: (name) => ['id__gt', 'id__lt'].includes(name) && !ignored.includes(name),
        order: order === 'shuffled once' ? 'as stored' : order,
        random: (least, most) => least + (this.next() % (most - least + 1)),
        ...{ defaultPageSize, pageCap: maxPageSize },
      },
      { sourceTime: new Date(1_700_000_000_000 + this.questions.length * 1000) },
    );
    this.weight += answer.weight;
    const { showsTwice } = this.options;
    const copies = (at: number) => (showsTwice !== undefined && at % showsTwice === 0 ? 2 : 1);
    return { ...answer, results: answer.results.flatMap((one, at) => Array.from({ length: copies(at) }, () => one)) };
  }

  private next(): number {
    this.seed = (this.seed * 48271) % 2147483647;
    return this.seed;
  }

  private shuffled(ids: number[]): number[] {
    const shuffled = [...ids];
    shuffle(shuffled, (least, most) => least + (this.next() % (most - least + 1)));
    return shuffled;
  }
}

async function walkAll(
  server: ListServer,
  options: { after?: number; resume?: WalkState; diesAfter?: number; knownIgnored?: string[] } = {},
) {
  const saved = new Set<number>();
  let state: WalkState | null = null;
  const ignored: string[] = [];
  let saves = 0;
  await walk(
    {
      ask: async ({ filters, pageSize, page }) => server.answer(filters, pageSize, page),
      contradicted: (filters, { id }) => {
        const keeps: Record<string, (bound: number) => boolean> = {
          id__gt: (bound) => id > bound,
          id__gte: (bound) => id >= bound,
          id__lt: (bound) => id < bound,
          id__lte: (bound) => id <= bound,
        };
        return Object.keys(filters).filter((name) => keeps[name]?.(Number(filters[name])) === false);
      },
      save: async (answer, next) => {
        if (options.diesAfter !== undefined && saves >= options.diesAfter) throw new Error('killed');
        saves += 1;
        for (const { id } of answer.results) saved.add(id);
        state = next;
      },
      ignored: async (filter) => {
        ignored.push(filter);
      },
    },
    {
      base: {},
      after: options.after ?? null,
      resume: options.resume ?? null,
      defaultPageSize: 50,
      maxPageSize: 1000,
      ignored: new Set(options.knownIgnored ?? []),
      dimensions: [],
    },
  ).catch((error: unknown) => {
    if (!(error instanceof Error) || error.message !== 'killed') throw error;
  });
  return { saved, ignored, state: state as WalkState | null };
}

const some = (n: number) => Array.from({ length: n }, (_, i) => 3 * i + 1);

describe('a walk receives every record, whatever the server does (DESIGN: a walk proves itself)', () => {
  const rows: [string, Omit<ServerOptions, 'ids'>, number][] = [
    ['an empty list', { order: 'ascending' }, 0],
    ['a single page in no order', { order: 'random' }, 40],
    ['ascending ids', { order: 'ascending' }, 2345],
    ['descending ids', { order: 'descending' }, 2345],
    ['an order of its own', { order: 'shuffled once' }, 2345],
    ['another order every time', { order: 'random' }, 2345],
    ['descending, id__lt ignored', { order: 'descending', ignored: ['id__lt'] }, 2345],
    ['no order, id__lt ignored', { order: 'shuffled once', ignored: ['id__lt'] }, 2345],
    ['ascending, id__gt ignored', { order: 'ascending', ignored: ['id__gt'] }, 2345],
    ['no id filter and no order', { order: 'random', ignored: ['id__gt', 'id__lt'] }, 2345],
    ['a smaller largest page', { order: 'ascending', maxPageSize: 100 }, 2345],
    ['a smaller largest page and descending ids', { order: 'descending', maxPageSize: 100 }, 1234],
    [
      'a smaller largest page by offset',
      { order: 'descending', maxPageSize: 100, ignored: ['id__gt', 'id__lt'] },
      1234,
    ],
    ['another default page size', { order: 'ascending', defaultPageSize: 20 }, 999],
  ];
  test.each(rows)('%s', async (_name, options, n) => {
    const server = new ListServer({ ...options, ids: some(n) });
    const { saved } = await walkAll(server);
    expect([...saved].sort((a, b) => a - b)).toEqual(some(n));
  });

  const listedTwice: [string, Omit<ServerOptions, 'ids'>][] = [
    ['ascending', { order: 'ascending' }],
    ['descending', { order: 'descending' }],
    ['ascending, id__lt ignored', { order: 'ascending', ignored: ['id__lt'] }],
    ['descending by offset', { order: 'descending', maxPageSize: 100, ignored: ['id__gt', 'id__lt'] }],
    ['no order, by offset', { order: 'random', ignored: ['id__gt', 'id__lt'] }],
  ];
  test.each(listedTwice)('records that the server lists and counts twice: %s', async (_name, options) => {
    const twice = [1, 148, 151, 301, 3001];
    const server = new ListServer({ ...options, ids: [...some(1100), ...twice] });
    const { saved } = await walkAll(server);
    expect([...saved].sort((a, b) => a - b)).toEqual(some(1100));
  });

  const shownTwice: [string, Omit<ServerOptions, 'ids' | 'showsTwice'>][] = [
    ...listedTwice,
    ['no order', { order: 'random' }],
    ['an order of its own, by offset', { order: 'shuffled once', ignored: ['id__gt', 'id__lt'] }],
    ['a smaller largest page', { order: 'ascending', maxPageSize: 20 }],
    ['a smaller largest page, descending', { order: 'descending', maxPageSize: 20, ignored: ['id__lt'] }],
  ];
  // With 52 records, a page of 50 with its copies is longer than the list; with 57 or 60, it is as long.
  test.each(shownTwice.flatMap(([name, options]) => [52, 57, 60, 75, 1100].map((n) => [n, name, options] as const)))(
    '%i records, of which a page shows every fifth twice and counts them once: %s',
    async (n, _name, options) => {
      const server = new ListServer({ ...options, ids: some(n), showsTwice: 5 });
      const { saved } = await walkAll(server);
      expect([...saved].sort((a, b) => a - b)).toEqual(some(n));
    },
  );

  test('copies that are counted cost a list of one page one request more', async () => {
    const server = new ListServer({ ids: [...some(40), 1, 4], order: 'ascending' });
    const { saved } = await walkAll(server);
    expect(saved.size).toBe(40);
    expect(server.questions).toHaveLength(2);
  });

  test('above a cursor only', async () => {
    const server = new ListServer({ ids: some(500), order: 'ascending' });
    const { saved } = await walkAll(server, { after: 1000 });
    expect([...saved]).toEqual(some(500).filter((id) => id > 1000));
  });

  const above: [string, Omit<ServerOptions, 'ids'>][] = [
    ['id__gt ignored', { order: 'descending', ignored: ['id__gt'] }],
    ['id__gt and id__lt ignored', { order: 'descending', ignored: ['id__gt', 'id__lt'] }],
    [
      'id__gt and id__lt ignored, capped pages',
      { order: 'descending', ignored: ['id__gt', 'id__lt'], maxPageSize: 60 },
    ],
  ];
  test.each(above)('above a cursor, descending, %s: seen only after the first page', async (_name, options) => {
    const server = new ListServer({ ...options, ids: some(500) });
    const { saved, ignored } = await walkAll(server, { after: 1000 });
    expect([...saved]).toEqual(expect.arrayContaining(some(500).filter((id) => id > 1000)));
    expect(ignored).toContain('id__gt');
  });

  test('records inserted and deleted under the walk: those that were there all along are received', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Order>('ascending', 'descending', 'shuffled once'),
        fc.array(
          fc.record({
            at: fc.integer({ min: 1, max: 12 }),
            id: fc.integer({ min: 1, max: 9000 }),
            insert: fc.boolean(),
          }),
          {
            maxLength: 4,
          },
        ),
        async (order, changes) => {
          const touched = new Set(changes.map((change) => change.id));
          const server = new ListServer({
            ids: some(2600),
            order,
            before: (list, question) => {
              for (const change of changes) {
                if (change.at !== question) continue;
                list.ids = list.ids.filter((id) => id !== change.id);
                if (change.insert) list.ids.push(change.id);
              }
            },
          });
          const { saved } = await walkAll(server);
          for (const id of some(2600)) if (!touched.has(id)) expect(saved.has(id)).toBe(true);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  test('a list that cannot be proven complete is an error', async () => {
    const server = new ListServer({
      ids: some(12_000),
      order: 'shuffled once',
      ignored: ['id__gt', 'id__lt'],
    });
    await expect(walkAll(server)).rejects.toBeInstanceOf(ListUnprovable);
  });
});

describe('a walk asks for the least', () => {
  test('an ascending list of n records weighs n / 50, and one first page', async () => {
    const server = new ListServer({ ids: some(10_000), order: 'ascending' });
    await walkAll(server);
    expect(server.weight).toBeLessThanOrEqual(10_000 / 50 + 1);
    expect(server.questions.every(({ page }) => page === 1)).toBe(true);
  });

  test('what is inserted under the walk costs a question of weight 1, not the page again', async () => {
    const server = new ListServer({
      ids: some(10_000),
      order: 'ascending',
      before: (list, question) => {
        if (question % 3 === 2) list.ids.push(100_000 + question);
      },
    });
    const { saved } = await walkAll(server);
    expect(some(10_000).every((id) => saved.has(id))).toBe(true);
    expect(server.weight).toBeLessThanOrEqual(10_000 / 50 + 12);
  });

  test('nothing new weighs 1', async () => {
    const server = new ListServer({ ids: some(100), order: 'ascending' });
    await walkAll(server, { after: 5000 });
    expect(server.weight).toBe(1);
  });

  const unfiltered: [string, Omit<ServerOptions, 'ids'>, number, number][] = [
    ['a short list, id__gt and id__lt ignored', { order: 'descending', ignored: ['id__gt', 'id__lt'] }, 120, 6],
    [
      'pages capped below what is asked, id__gt and id__lt ignored',
      { order: 'descending', maxPageSize: 100, ignored: ['id__gt', 'id__lt'] },
      1234,
      1234 / 50 + 25,
    ],
    ['pages capped below what is asked, ascending', { order: 'ascending', maxPageSize: 100 }, 1234, 1234 / 50 + 25],
    [
      'pages capped at no multiple of the default',
      { order: 'shuffled once', maxPageSize: 60, ignored: ['id__gt', 'id__lt'] },
      1234,
      (1234 / 60) * 2 + 25,
    ],
  ];
  test.each(unfiltered)('%s: little more than the records weigh', async (_name, options, n, weight) => {
    const server = new ListServer({ ...options, ids: some(n) });
    const { saved } = await walkAll(server);
    expect(saved.size).toBe(n);
    expect(server.weight).toBeLessThanOrEqual(weight);
  });

  test('where id__gt is known to be ignored, a short list weighs what it holds', async () => {
    const server = new ListServer({ ids: some(120), order: 'descending', ignored: ['id__gt', 'id__lt'] });
    const { saved } = await walkAll(server, { knownIgnored: ['id__gt', 'id__gte', 'id__lt', 'id__lte'] });
    expect(saved.size).toBe(120);
    expect(server.weight).toBeLessThanOrEqual(4);
  });

  test('a killed walk goes on at the page where it was', async () => {
    const server = new ListServer({ ids: some(5000), order: 'ascending' });
    const first = await walkAll(server, { diesAfter: 3 });
    const before = server.questions.length;
    const second = await walkAll(server, { resume: first.state! });
    expect(new Set([...first.saved, ...second.saved]).size).toBe(5000);
    expect(second.saved.size).toBe(5000 - first.saved.size);
    expect(server.questions[before]!.filters.id__gt).toBe(String(Math.max(...first.saved)));
  });

  const sizes: [number, number, number, number][] = [
    [1, 50, 1000, 50],
    [50, 50, 1000, 50],
    [51, 50, 1000, 100],
    [5000, 50, 1000, 1000],
    [5000, 30, 1000, 990],
    [0, 50, 1000, 50],
    [10, 2000, 1000, 2000],
  ];
  test.each(sizes)('%i records left, default %i, maximum %i: pages of %i', (remaining, standard, maximum, size) => {
    expect(pageSizeFor(remaining, standard, maximum)).toBe(size);
  });
});

test('an ignored filter of the request is distinguished from the filter of the walk', async () => {
  const server = new ListServer({ ids: some(10), order: 'ascending' });
  const asked = walk(
    {
      ask: async ({ filters, pageSize, page }) => server.answer(filters, pageSize, page),
      contradicted: () => ['modified__gte'],
      save: async () => undefined,
      ignored: async () => undefined,
    },
    {
      base: { modified__gte: '2026-01-01T00:00:00Z' },
      after: null,
      resume: null,
      defaultPageSize: 50,
      maxPageSize: 1000,
      ignored: new Set<string>(),
      dimensions: [],
    },
  );
  await expect(asked).rejects.toBeInstanceOf(FilterIgnored);
});
