// Only one folder writes each table (DESIGN "How the code is laid out"). Other folders read it, or call its owner.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const source = (path: string) => readFileSync(new URL(path, root), 'utf8');
const tables = new Set([...source('src/db/schema.sql').matchAll(/^create table ([\w.]+)/gm)].map(([, name]) => name));

/**
 * The tables that a file's statements write: named in SQL, passed to `insertRows` or `insertion`, or possible values of
 * a parameter `table`.
 */
function written(text: string): string[] {
  return [
    ...text.matchAll(/\b(?:insert into|update|delete from|merge into)\s+([\w.]+)/g),
    ...text.matchAll(/\b(?:insertRows\(\s*[\w.#]+,|insertion\()\s*'(\w+)'/g),
    ...[...text.matchAll(/\btable(?: of \[|: )((?:'\w+'(?:, | \| )?)+)/g)].flatMap(([, names]) => [
      ...names!.matchAll(/(\w+)/g),
    ]),
  ].flatMap(([, name]) => (tables.has(name) ? name! : []));
}

const folderOf = (file: string) =>
  file
    .split('/')
    .slice(0, file.startsWith('src/') ? 2 : 1)
    .join('/');

const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`),
);

test('each table is written by one folder', () => {
  const writers = new Map<string, Set<string>>();
  for (const file of files)
    for (const table of written(source(file)))
      writers.set(table, (writers.get(table) ?? new Set()).add(folderOf(file)));
  expect(writers.size).toBeGreaterThan(40);
  const shared = [...writers]
    .filter(([, folders]) => folders.size > 1)
    .map(([table, folders]) => [table, [...folders]]);
  expect(shared).toEqual([]);
});

test.each([
  ['`insert into entry (id) values (?)`', ['entry']],
  ['`update mirror_record m set raw = ?`', ['mirror_record']],
  ["for (const table of ['lease', 'document']) delete", ['lease', 'document']],
  ["write(table: 'entry' | 'meta')", ['entry', 'meta']],
  ["insertRows(trx, 'entry_line', types, rows)", ['entry_line']],
  ["insertion('entry_line', types, rows)", ['entry_line']],
  ['`select from entry for update`', []],
])('%s writes %j', (text, expected) => expect(written(text)).toEqual(expected));
