import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, inject, test } from 'vitest';
import { postBatch } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import { type InstallationConfig, loadConfig } from '../../src/config/load.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { checkSchema, migrate } from '../../src/db/migrate.ts';
import { migrationNames } from '../../src/db/migrations.ts';
import { type Db, schemaName } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { schemaText } from '../../src/db/schema-text.ts';
import { summariseDays } from '../../src/ledger/summaries/append.ts';
import { chainReport } from '../../src/queries/ledger.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';

/**
 * What a program of revision 1 left in its database: table and row as JSON on each line, of a clinic posted by document and one
 * with daily summaries, both closed through January, the changes of a last window mirrored and not yet posted. It is never made
 * anew: databases of that revision exist.
 */
const dump = new URL('./revision-1.tsv.gz', import.meta.url);
const installations = [901, 902];
const journal = ['entry', 'entry_line', 'summary_entry', 'summary_line', 'summary_member', 'ledger_close'];

const { db, owner } = useDatabase();
const runtime = inject('runtimeRole');
let before: Map<string, object[]>;

beforeAll(async () => {
  await execute(owner, `drop schema ${schemaName} cascade`);
  await migrate(owner, { through: '001_initial' });
  await load(owner);
  before = await journalOf(owner);
  for (const name of journal) expect({ name, rows: before.get(name)?.length }).not.toEqual({ name, rows: 0 });
});

async function load(target: Db): Promise<void> {
  const lines = gunzipSync(readFileSync(dump)).toString().trimEnd().split('\n');
  const tables = Map.groupBy(lines, (line) => line.slice(0, line.indexOf('\t')));
  await target.transaction(async (trx) => {
    // The rows come in any order.
    await execute(trx, 'set local session_replication_role = replica');
    for (const [name, rows] of tables) {
      if (name === 'meta') continue;
      const json = `[${rows.map((line) => line.slice(name.length + 1)).join(',')}]`;
      await execute(
        trx,
        `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, ?::json)`,
        [json],
      );
    }
    await execute(trx, `select setval(pg_get_serial_sequence('sync_window', 'id'), (select max(id) from sync_window))`);
  });
}

/** The rows of the journal's tables, with the columns that `like` has. */
async function journalOf(target: Db, like?: Map<string, object[]>): Promise<Map<string, object[]>> {
  const tables = new Map<string, object[]>();
  for (const name of journal) {
    const found = await query<{ row: string }>(target, `select row_to_json(t)::text as row from ${name} t`);
    const columns = Object.keys(like?.get(name)?.[0] ?? {});
    const kept = (row: object) => Object.fromEntries(Object.entries(row).filter(([key]) => columns.includes(key)));
    const parsed = found.map(({ row }) => JSON.parse(row) as object).map((row) => (like ? kept(row) : row));
    tables.set(
      name,
      parsed.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    );
  }
  return tables;
}

async function configured(): Promise<InstallationConfig[]> {
  const folder = folderOf({
    'vetledger.yaml': demoConfig(
      installations.map((id) => ({
        ...{ id, base_url: 'http://127.0.0.1:9' },
        posting_mode: id === 902 ? 'daily_summary' : 'document',
      })),
    ),
  });
  return (await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 'token' })).installations;
}

test('books of revision 1 come through every later migration as they were, and go on', async () => {
  expect(await migrate(owner, { runtime })).toEqual(migrationNames().slice(1));
  expect(await schemaText(owner)).toBe(readFileSync(new URL('../../src/db/schema.sql', import.meta.url), 'utf8'));
  await checkSchema(db);
  expect(await journalOf(owner, before)).toEqual(before);

  const entries = new Map<number, number>();
  for (const id of installations) {
    const report = await chainReport(db, id);
    expect(report).toMatchObject({ ok: true, broken: null });
    entries.set(id, report.entries);
  }

  // What the last window had mirrored is posted by this version, after the entries of the former one.
  const books = await configured();
  for (const each of books) {
    const contextFor = postingContexts(each, async () => null);
    const options = { finalRound: true, judgedBefore: new Date(Date.now() + 3_600_000) };
    await db.transaction((trx) => postBatch(trx, each, contextFor, null, options));
    await summariseDays(transactionsOf(db), each.id, { before: '2026-12-31', windowId: null });
    const report = await chainReport(db, each.id);
    expect(report).toMatchObject({ ok: true });
    expect(report.entries).toBeGreaterThan(entries.get(each.id) ?? 0);
  }
  expect(await wrong(books)).toEqual([]);
});

/** What does not hold in the equations. */
async function wrong(books: InstallationConfig[]): Promise<unknown[]> {
  const inputs = books.map((each) => ({ ...each, today: '2026-04-10', refundLowersUnused: true, sourceCounts: {} }));
  const { installations: reports } = await reconcile(db, inputs);
  return reports.flatMap(({ installation, equations }) =>
    Object.values(equations).flatMap((each) => (each.ok ? [] : [{ installation, ...each }])),
  );
}
