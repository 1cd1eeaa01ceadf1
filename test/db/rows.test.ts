import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { rowsAsArrays } from '../../src/db/bulk.ts';
import {
  bool,
  columnList,
  columnTypes,
  date,
  float,
  instant,
  integer,
  integers,
  json,
  nullable,
  numeric,
  numerics,
  oneOf,
  storedJson,
  text,
  texts,
  uuid,
} from '../../src/db/columns.ts';
import { pages, pagesAhead } from '../../src/db/pages.ts';
import { DamagedRow, execute, maybeRow, row, rows, UnexpectedResult } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';

const { owner: db } = useDatabase();

const fruit = oneOf(['apple', 'pear']);

describe('what is read', () => {
  test('every type of column, and the types inferred from their declarations', async () => {
    const found = await row(
      db,
      {
        whole: integer,
        share: float,
        word: text,
        key: uuid,
        yes: bool,
        amount: numeric,
        day: date,
        at: instant,
        raw: json,
        ids: integers,
        words: texts,
        amounts: numerics,
        fruit,
        none: nullable(text),
        noFruit: nullable(fruit),
      },
      `select 9007199254740991::bigint as whole, 0.5::double precision as share, 'a' as word,
         '00000000-0000-4000-8000-000000000001'::uuid as key, true as yes, 1.50::numeric as amount,
         '2026-02-28'::date as day, '2026-02-28T12:00:00Z'::timestamptz as at, '{"n": 1.50}'::json as raw,
         array[1, 2]::bigint[] as ids, array['a', 'b,c'] as words, array[0.10]::numeric[] as amounts,
         'pear' as fruit, null::text as none, null::text as "noFruit"`,
    );
    expectTypeOf(found).toEqualTypeOf<{
      whole: number;
      share: number;
      word: string;
      key: string;
      yes: boolean;
      amount: string;
      day: string;
      at: Date;
      raw: string;
      ids: number[];
      words: string[];
      amounts: string[];
      fruit: 'apple' | 'pear';
      none: string | null;
      noFruit: 'apple' | 'pear' | null;
    }>();
    expect(found).toEqual({
      whole: 9007199254740991,
      share: 0.5,
      word: 'a',
      key: '00000000-0000-4000-8000-000000000001',
      yes: true,
      amount: '1.50',
      day: '2026-02-28',
      at: new Date('2026-02-28T12:00:00Z'),
      raw: '{"n": 1.50}',
      ids: [1, 2],
      words: ['a', 'b,c'],
      amounts: ['0.10'],
      fruit: 'pear',
      none: null,
      noFruit: null,
    });
  });

  test('stored JSON, parsed and checked', async () => {
    const error = storedJson('sync_window.error', z.object({ code: z.string() }));
    const read = (stored: string) =>
      row(db, { id: integer, error, none: nullable(error) }, `select 7 as id, ?::json as error, null::json as none`, [
        stored,
      ]);
    expect(await read('{"code": "timeout"}')).toEqual({ id: 7, error: { code: 'timeout' }, none: null });
    await expect(read('{"code": 7}')).rejects.toThrow(DamagedRow);
    await expect(read('{"code": 7}')).rejects.toThrow(/^sync_window.error of the row with id 7 is damaged: code: /);
    await expect(read('[]')).rejects.toThrow(/is damaged: the value: /);
    const asText = row(db, { error }, `select '{"code' as error`);
    await expect(asText).rejects.toThrow('sync_window.error is damaged: it is not JSON');
  });

  test('arrays as bindings, in a transaction, too', async () => {
    const found = await db.transaction((trx) =>
      rows(trx, { n: integer }, 'select * from unnest(?::bigint[]) as n where n > ? order by n', [[3, 1, 2], 1]),
    );
    expect(found).toEqual([{ n: 2 }, { n: 3 }]);
  });

  test('a row that may be missing is null then', async () => {
    const found = await maybeRow(db, { n: integer }, 'select 1 as n where false');
    expectTypeOf(found).toEqualTypeOf<{ n: number } | null>();
    expect(found).toBeNull();
    expect(await maybeRow(db, { n: integer }, 'select 1 as n')).toEqual({ n: 1 });
  });

  test('execute counts the rows that it touched', async () => {
    await execute(db, 'create table public.counted as select * from generate_series(1, 5) as n');
    expect(await execute(db, 'delete from public.counted where n > ?', [2])).toBe(3);
    expect(await execute(db, 'delete from public.counted where false')).toBe(0);
  });
});

describe('what is refused', () => {
  const refusals: [name: string, read: () => Promise<unknown>, message: RegExp][] = [
    ['a column that did not come', () => rows(db, { n: integer, m: integer }, 'select 1 as n'), /1 columns.*2 are/],
    ['a column not declared', () => rows(db, { n: integer }, 'select 1 as n, 2 as m'), /column m is not declared/],
    [
      'a column that every object has',
      () => rows(db, { n: integer }, 'select 1 as n, 2 as constructor'),
      /constructor is not declared/,
    ],
    ['a column named twice', () => rows(db, { n: integer }, 'select 1 as n, 2 as n'), /2 columns.*1 are/],
    ['a column of another type', () => rows(db, { n: integer }, "select '1' as n"), /column n has the type/],
    ['an amount as a float', () => rows(db, { n: numeric }, 'select 1.5::real as n'), /column n has the type/],
    ['null', () => rows(db, { n: integer }, 'select null::bigint as n'), /column n is null/],
    ['null in a later row', () => rows(db, { n: text }, "values ('a'), (null)"), /column column1 is not declared/],
    [
      'null after rows with a value',
      () => rows(db, { n: text }, "select n from (values ('a'), (null)) as t (n)"),
      /column n is null/,
    ],
    ['an unknown word', () => rows(db, { fruit }, "select 'plum' as fruit"), /column fruit holds a value/],
    [
      'an unknown word where null may stand',
      () => rows(db, { fruit: nullable(fruit) }, "select 'plum' as fruit"),
      /column fruit holds a value/,
    ],
    [
      'no row where one is sure to come',
      () => row(db, { n: integer }, 'select 1 as n where false'),
      /always returns a row/,
    ],
  ];
  test.each(refusals)('%s', async (_name, read, message) => {
    const refused = read();
    await expect(refused).rejects.toBeInstanceOf(UnexpectedResult);
    await expect(refused).rejects.toMatchObject({ code: 'unexpected_result', message: expect.stringMatching(message) });
  });

  test('a wrong declaration shows without a row, too', async () => {
    await expect(rows(db, { n: text }, 'select 1 as n where false')).rejects.toBeInstanceOf(UnexpectedResult);
  });

  test('an id beyond what a number holds exactly', async () => {
    await expect(rows(db, { n: integer }, 'select 9007199254740993::bigint as n')).rejects.toThrow(RangeError);
  });
});

describe('rows as arrays', () => {
  const shape = { id: integer, said: nullable(text), ids: integers };
  const given = [
    { id: 1, said: 'a, "b"', ids: [1, 2] },
    { id: 2, said: null, ids: [] },
  ];

  test('stand in a statement as a table', async () => {
    const { from, bindings } = rowsAsArrays('given', columnTypes(shape), given);
    expect(bindings).toHaveLength(3);
    expect(await rows(db, shape, `select ${columnList(shape)} from ${from} order by id`, bindings)).toEqual(given);
  });

  test('of an update change the rows that they name', async () => {
    await execute(db, `create table public.said (id bigint, said text)`);
    await execute(db, `insert into public.said values (1, 'old'), (2, 'old'), (3, 'old')`);
    const { from, bindings } = rowsAsArrays('given', { id: 'bigint', said: 'text' }, [
      { id: 1, said: 'new' },
      { id: 3, said: null },
    ]);
    const touched = await execute(
      db,
      `update public.said t set said = given.said from ${from} where t.id = given.id`,
      bindings,
    );
    expect(touched).toBe(2);
    expect(await rows(db, { said: nullable(text) }, 'select said from public.said order by id')).toEqual([
      { said: 'new' },
      { said: 'old' },
      { said: null },
    ]);
  });

  test('without rows are an empty table', async () => {
    const { from, bindings } = rowsAsArrays('given', { id: 'bigint', ids: 'bigint[]' }, []);
    expect(await row(db, { n: integer }, `select count(*) as n from ${from}`, bindings)).toEqual({ n: 0 });
  });
});

describe.each([
  ['pages', pages],
  ['pagesAhead', pagesAhead],
])('%s', (_name, read) => {
  const numbers = (count: number, after: { n: number } | null) =>
    rows(db, { n: integer }, 'select n from generate_series(1, ?::int) as n where n > ? order by n limit 2', [
      count,
      after?.n ?? 0,
    ]);

  test.each([
    [0, [], 1],
    [3, [[1, 2], [3]], 2],
    [
      4,
      [
        [1, 2],
        [3, 4],
      ],
      3,
    ],
  ])('of %i rows, two at a time', async (count, expected, reads) => {
    const asked: (number | null)[] = [];
    const found: number[][] = [];
    const pages = read(2, (after: { n: number } | null) => {
      asked.push(after?.n ?? null);
      return numbers(count, after);
    });
    for await (const page of pages) found.push(page.map(({ n }) => n));
    expect(found).toEqual(expected);
    expect(asked).toHaveLength(reads);
    expect(asked[0]).toBeNull();
  });

  test('throws the error of a page when it comes to that page', async () => {
    const found: number[][] = [];
    const pages = read(2, async (after: { n: number } | null) => {
      if (after?.n === 2) throw new Error('the second page fails');
      return numbers(4, after);
    });
    const all = async () => {
      for await (const page of pages) found.push(page.map(({ n }) => n));
    };
    await expect(all()).rejects.toThrow('the second page fails');
    expect(found).toEqual([[1, 2]]);
  });
});

test('pagesAhead has the next page read while the caller works on one, and no further one', async () => {
  const begun: number[] = [];
  const pages = pagesAhead(1, async (after: { n: number } | null) => {
    begun.push((after?.n ?? 0) + 1);
    return [{ n: (after?.n ?? 0) + 1 }];
  });
  for await (const [only] of pages) {
    expect(begun).toEqual(Array.from({ length: only!.n + 1 }, (_, before) => before + 1));
    if (only!.n === 3) break;
  }
  expect(begun).toEqual([1, 2, 3, 4]);
});
