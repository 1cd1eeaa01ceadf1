// A database with its clinic in two files: scripts/record-database.ts writes them, and test/upgrade restores them.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { text } from '../../src/db/columns.ts';
import { knownMigrations } from '../../src/db/migrations.ts';
import { type Db, schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { query } from './sql.ts';

/** The first line of the file. Each further line is a table with the text of each row, as PostgreSQL reads it. */
interface Head {
  migrations: { name: string; hash: string }[];
  sequences: { name: string; value: string }[];
}

/** Stores all rows of the schema. Returns the number of rows of each table. The connection is the owner's. */
export async function storeDatabase(owner: Db, file: string): Promise<Map<string, number>> {
  const head: Head = {
    migrations: await rows(owner, { name: text, hash: text }, 'select name, hash from migration order by name'),
    sequences: await rows(
      owner,
      { name: text, value: text },
      `select sequencename::text as name, last_value::text as value from pg_sequences
       where schemaname = ? and last_value is not null order by 1`,
      [schemaName],
    ),
  };
  const counts = new Map<string, number>();
  const lines = [JSON.stringify(head)];
  for (const table of await tablesOf(owner)) {
    const found = await rows(owner, { row: text }, `select t::text as row from ${schemaName}.${table} t`);
    counts.set(table, found.length);
    lines.push(JSON.stringify({ table, rows: found.map(({ row }) => row) }));
  }
  writeFileSync(file, gzipSync(lines.join('\n'), { level: 9 }));
  return counts;
}

/** The migrations that a stored database has. Throws an error if the text of one has changed since. */
export function migrationsIn(file: string) {
  const { migrations } = headOf(file);
  return migrations.map(({ name, hash }) => {
    const found = knownMigrations().find((known) => known.name === name);
    if (found?.hash !== hash)
      throw new Error(`${name}.sql is not as it was when ${file} was stored. CONTRIBUTING.md, "Changing the database"`);
    return found;
  });
}

/** Inserts all rows into a database that has exactly the migrations of the file. The connection is a superuser's. */
export async function restoreDatabase(owner: Db, file: string): Promise<void> {
  const [, ...lines] = linesOf(file);
  await owner.transaction(async (trx) => {
    // Triggers and foreign keys were checked when the rows were written.
    await execute(trx, 'set local session_replication_role = replica');
    for (const line of lines) {
      const { table, rows: stored } = JSON.parse(line) as { table: string; rows: string[] };
      const qualified = `${schemaName}.${table}`;
      await execute(trx, `delete from ${qualified}`);
      const columns = await rows(
        trx,
        { name: text },
        `select quote_ident(attname) as name from pg_attribute
         where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
        [qualified],
      );
      const names = columns.map(({ name }) => name);
      await execute(
        trx,
        `insert into ${qualified} (${names.join()}) overriding system value
         select ${names.map((name) => `(r).${name}`).join()} from (select unnest(?::text[])::${qualified} as r) as stored`,
        [stored],
      );
    }
    for (const { name, value } of headOf(file).sequences)
      await query(trx, 'select setval(?::regclass, ?::bigint)', [`${schemaName}.${name}`, value]);
  });
}

/** The tables of the books, except the one that lists the applied migrations. */
async function tablesOf(db: Db): Promise<string[]> {
  const found = await rows(
    db,
    { name: text },
    `select tablename::text as name from pg_tables where schemaname = ? and tablename <> 'migration' order by 1`,
    [schemaName],
  );
  return found.map(({ name }) => name);
}

const linesOf = (file: string) => gunzipSync(readFileSync(file)).toString().split('\n');

function headOf(file: string): Head {
  return JSON.parse(linesOf(file)[0] ?? '') as Head;
}
