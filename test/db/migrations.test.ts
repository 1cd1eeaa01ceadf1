import { expect, test } from 'vitest';
import { knownMigrations, type Migration, migration } from '../../src/db/migrations.ts';

/** What programs of the version before may use. */
const breaking = [
  /\bdrop\s+(table|column|function|type|view)\b/i,
  /\brename\b/i,
  /\bset\s+not\s+null\b/i,
  /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/i,
  /\balter\s+column\s+\w+\s+drop\s+default\b/i,
  /\badd\s+column\s+(?:if\s+not\s+exists\s+)?\w+\s+[\w[\]]+\s+not\s+null(?!\s+(default|generated))/i,
];
/** Migrations up to here were written before kinds were noted. */
const lastWithoutKinds = '021_erp_open_items_in_bulk';

const breaks = ({ kind, sql }: Migration) => {
  const code = sql.replaceAll(/--.*$/gm, '');
  return kind !== 'contract' && !sql.startsWith('-- Expand: ') ? breaking.filter((each) => each.test(code)) : [];
};

test('what takes something away says so on its first line: `-- Contract: why`, or `-- Expand: why no older version minds`', () => {
  const found = knownMigrations()
    .filter(({ name }) => name > lastWithoutKinds)
    .map((each) => [each.name, breaks(each)]);
  expect(found.filter(([, patterns]) => patterns?.length)).toEqual([]);
});

test.each([
  'alter table meta drop column remark;',
  'alter table meta rename column remark to note;',
  'alter table meta alter column remark set not null;',
  'alter table meta alter column remark type bigint;',
  'alter table meta add column remark text not null;',
  'drop table meta;',
])('%s is noticed', (sql) => {
  expect(breaks(migration('900', sql))).toHaveLength(1);
  expect(breaks(migration('900', `-- Contract: nobody uses it.\n${sql}`))).toEqual([]);
});
