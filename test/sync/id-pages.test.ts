import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { PracticeError } from '../../src/domain/practice-error.ts';
import type { JsonObject } from '../../src/records/json.ts';
import { pullByIds } from '../../src/sync/by-id.ts';
import { coveringPages } from '../../src/sync/id-pages.ts';
import { useDatabase } from '../support/database.ts';
import { pullContextOf } from '../support/pull-context.ts';

const sizes = { pageSize: 50, maxPageSize: 1000 };
const every = (n: number, between: number) => Array.from({ length: n }, (_, at) => ({ id: at + 1, between }));
const shape = (pages: ReturnType<typeof coveringPages>) => pages.map(({ ids, records }) => [ids.length, records]);

describe('wanted ids are covered with pages', () => {
  it.each([
    ['none', [], []],
    ['one', every(1, 7), [[1, 1]]],
    ['a page full', every(50, 0), [[50, 50]]],
    ['two pages beside each other become one request of the same weight', every(100, 0), [[100, 100]]],
    [
      'never more than the largest page',
      every(1_050, 0),
      [
        [1_000, 1_000],
        [50, 50],
      ],
    ],
    [
      'every other record',
      every(50, 1),
      [
        [25, 49],
        [25, 49],
      ],
    ],
    [
      'far apart: each by itself',
      every(3, 50),
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
    ],
    [
      'a gap between two runs',
      [...every(10, 0), { id: 90, between: 60 }, { id: 91, between: 0 }],
      [
        [10, 10],
        [2, 2],
      ],
    ],
  ])('%s', (_name, wanted, expected) => {
    expect(shape(coveringPages(wanted, sizes))).toEqual(expected);
  });

  it('each once and in order, for no more than one page a wanted id or one for each 50 records', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 300 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 60 }), (betweens, pageSize) => {
        const wanted = betweens.map((between, at) => ({ id: at + 1, between }));
        const pages = coveringPages(wanted, { pageSize, maxPageSize: 20 * pageSize });
        expect(pages.flatMap(({ ids }) => ids)).toEqual(wanted.map(({ id }) => id));
        const weight = pages.reduce((sum, { records }) => sum + Math.ceil(records / pageSize), 0);
        expect(weight).toBeLessThanOrEqual(wanted.length);
        const records = betweens.slice(1).reduce((sum, between) => sum + between + 1, 1);
        // Of two neighbouring pages, the first one and the next id together hold more than a page.
        expect(weight).toBeLessThanOrEqual(Math.ceil((2 * records) / pageSize) + 1);
      }),
    );
  });
});

describe('records are pulled by their ids', () => {
  const { db } = useDatabase();
  /** A list of prepayments with these ids. `weights` has the weights of its requests. */
  const listOf = (ids: readonly number[], { lacks = [] as string[] } = {}) => {
    const weights: number[] = [];
    const list = async (_kind: unknown, filters: Record<string, string>, pageSize: number | null) => {
      const size = pageSize ?? 50;
      weights.push(Math.ceil(size / 50));
      const bound = (filter: string, none: number) => (lacks.includes(filter) ? none : Number(filters[filter] ?? none));
      const [above, below] = [bound('id__gt', 0), bound('id__lt', Number.POSITIVE_INFINITY)];
      const matching = ids.filter((id) => id > above && id < below);
      const at = new Date();
      return {
        ...{ count: matching.length, sourceTime: at, sourceTimeAtMost: at, askedAt: at, answeredAt: at },
        ...{ clock: 'server' as const, weight: 1, pageSizeAsked: pageSize },
        results: matching.slice(0, size).map((id) => {
          const value: JsonObject = { id, paid: '1.00', modified: '2026-03-02T10:00:00+02:00' };
          return { id, raw: JSON.stringify(value), value, whole: value } as never;
        }),
      };
    };
    return { list, weights };
  };
  const context = (client: { list: unknown }) => pullContextOf({ db, client: client as never });
  const all = Array.from({ length: 400 }, (_, at) => 7 * (at + 1));

  test.each([
    ['one record in seven ids: two pages of 50', all.slice(0, 100), 2],
    ['three far apart', [all[0]!, all[150]!, all[399]!], 3],
    ['two of one page and one far apart', [all[0]!, all[40]!, all[399]!], 2],
    ['with one that the source does not have', [all[0]!, all[1]! + 1, all[2]!], 1],
  ])('%s', async (_name, ids, weight) => {
    await pullByIds(context(listOf(all)), 'prepayment', all);
    const source = listOf(all);
    const found = await pullByIds(context(source), 'prepayment', ids);
    expect([...found].sort((a, b) => a - b)).toEqual(ids.filter((id) => all.includes(id)));
    expect(source.weights.reduce((sum, each) => sum + each, 0)).toBe(weight);
  });

  test.each([
    ['ignores', 0],
    ['refuses', 1],
  ])(
    'a server that %s id__lt, which is no filter of the specification, costs a page for fifty records',
    async (how, refused) => {
      const installation = 10 + refused;
      const source = listOf(all, { lacks: ['id__lt'] });
      const asked: string[][] = [];
      const list = async (...request: Parameters<typeof source.list>) => {
        asked.push(Object.keys(request[1]));
        if (how === 'refuses' && 'id__lt' in request[1]) {
          throw new PracticeError('refused', 'unknown filter', { status: 400, fields: ['id__lt'] });
        }
        return source.list(...request);
      };
      const found = await pullByIds(
        pullContextOf({ db, installation, client: { list } as never }),
        'prepayment',
        all.slice(0, 200),
      );
      expect(found.size).toBe(200);
      expect(source.weights.reduce((sum, each) => sum + each, 0)).toBe(4);
      expect(asked.filter((filters) => filters.includes('id__lt')).length).toBe(1);
    },
  );

  test('what the mirror does not know between them is asked for, too', async () => {
    const source = listOf(all);
    const found = await pullByIds(pullContextOf({ db, installation: 2, client: source as never }), 'prepayment', [
      all[0]!,
      all[399]!,
    ]);
    expect(found.size).toBe(2);
  });
});
