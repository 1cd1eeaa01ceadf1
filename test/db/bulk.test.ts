import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { insertRows } from '../../src/db/bulk.ts';
import { bool, columnTypes, date, integer, integers, nullable, numeric, text, texts } from '../../src/db/columns.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { postgresText } from '../../src/domain/text.ts';
import { useDatabase } from '../support/database.ts';
import { runs } from '../support/runs.ts';

const shape = {
  id: integer,
  said: nullable(text),
  amount: nullable(numeric),
  day: nullable(date),
  yes: bool,
  ids: integers,
  words: texts,
};
const types = columnTypes(shape);

const { owner: db } = useDatabase();

beforeAll(async () => {
  await execute(
    db,
    `create table public.kept (${Object.entries(types)
      .map((column) => column.join(' '))
      .join(', ')})`,
  );
});
beforeEach(async () => {
  await execute(db, 'truncate public.kept');
});
const anyText = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'NULL', 'null', '{}', '{"a",b}', '\\', '"', 'a\\"b', ' x ', '\n\t', 'Ä, ö', '?', '$1'),
  )
  .map(postgresText);

const anyRow = fc.record({
  id: fc.integer({ min: 0 }),
  said: fc.option(anyText),
  amount: fc.constantFrom('0.10', '-12345678901234567890.05', '3', null),
  day: fc.constantFrom('2026-02-28', null),
  yes: fc.boolean(),
  ids: fc.array(fc.integer(), { maxLength: 3 }),
  words: fc.array(anyText, { maxLength: 3 }),
});

test('what is read back is what was given, whatever the texts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { maxLength: 6 }), async (given) => {
      await execute(db, 'truncate public.kept');
      const numbered = given.map((each, id) => ({ ...each, id }));
      await insertRows(db, 'public.kept', types, numbered);
      expect(await rows(db, shape, 'select * from public.kept order by id')).toEqual(numbered);
    }),
    { numRuns: runs(100) },
  );
});

test('a value of the wrong type is refused, and nothing is kept', async () => {
  const good = { id: 1, said: 'a', amount: '1', day: null, yes: true, ids: [], words: [] };
  await expect(insertRows(db, 'public.kept', types, [good, { ...good, day: 'today, I say' }])).rejects.toThrow(/date/);
  expect(await rows(db, shape, 'select * from public.kept')).toEqual([]);
});
