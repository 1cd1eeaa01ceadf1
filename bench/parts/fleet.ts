// Many clinics and a large one in one database, for the console: a clinic is posted and copied in SQL.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { recordAction } from '../../src/actions/record.ts';
import { postWaiting } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { beginSession } from '../../src/console/users/sessions.ts';
import { addSubject, grantRole } from '../../src/console/users/subjects.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { type Db, openDatabase } from '../../src/db/pool.ts';
import type { PostgresHandle } from '../../src/embedded/index.ts';
import { companyKeyOf } from '../../src/erp/company.ts';
import { refreshUsage } from '../../src/queries/mapping-shown.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { closePeriods } from '../../test/support/closing.ts';
import { demoConfig } from '../../test/support/demo-config.ts';
import { clinicSql, copySql } from './history.ts';

export const today = '2026-01-15';
export const large = 4712;
const [copied, firstCopy] = [4711, 5001];
const closed = '2025-11-30';

export interface FleetSize {
  clinics: number;
  /** Invoices of each clinic, and of the large one. */
  invoices: number;
  largest: number;
  /** Documents of the large clinic that people must decide about, its windows and its actions. */
  open: number;
  windows: number;
  actions: number;
}

export interface Fleet {
  config: Config;
  /** The session of a user with all rights in all clinics. */
  cookie: string;
  dispose(): void;
}

/** Fills the database. The books are closed before `closed`, so that old documents are late. */
export async function makeFleet(
  postgres: Pick<PostgresHandle, 'url' | 'ownerUrl' | 'consoleUrl'>,
  size: FleetSize,
): Promise<Fleet> {
  await migrateAsOwner(postgres);
  const copies = Array.from({ length: size.clinics - 1 }, (_, index) => firstCopy + index);
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
  const config = await configOf(folder, [copied, large, ...copies]);
  const company = companyKeyOf(config.installations[0]!.erp) ?? '';
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  const db = openDatabase(postgres.url, { max: 4 });
  try {
    const common = { company, today };
    await client.query(clinicSql({ clinic: copied, invoices: size.invoices, open: 12, windows: 100, ...common }));
    await client.query(
      clinicSql({ clinic: large, invoices: size.largest, open: size.open, windows: size.windows, ...common }),
    );
    await client.query('analyze');
    await closePeriods(
      db,
      [copied, large].map((id) => ({ id, today })),
      closed,
    );
    for (const id of [copied, large]) await judge(db, config, id);
    await refreshUsage(db, config.installations.find(({ id }) => id === large)!, new Date(`${today}T06:00:00Z`));
    for (const statement of copySql(copied, copies)) await client.query(statement);
    await client.query('vacuum analyze');
    await closePeriods(
      db,
      copies.map((id) => ({ id, today })),
      closed,
    );
    for (const id of [copied, ...copies, ...Array<number>(size.actions).fill(large)]) await act(db, id);
    return {
      config,
      cookie: await signIn(db, config),
      dispose: () => rmSync(folder, { recursive: true, force: true }),
    };
  } finally {
    await client.end();
    await db.destroy();
  }
}

function configOf(folder: string, ids: readonly number[]): Promise<Config> {
  const file = join(folder, 'vetledger.yaml');
  const settings = { base_url: 'http://127.0.0.1:9/', erp: `{kind: csv, folder: ${join(folder, 'books')}}` };
  writeFileSync(file, demoConfig(ids.map((id) => ({ id, ...settings }))));
  return loadConfig(file, {}, { secrets: false });
}

async function judge(db: Db, { installations }: Config, id: number): Promise<void> {
  const installation = installations.find((each) => each.id === id)!;
  const contextFor = postingContexts(
    installation,
    async () => null,
    () => new Date(`${today}T06:00:00Z`),
  );
  const options = { windowId: null, finalRound: true, transact: transactionsOf(db), onProgress: () => undefined };
  await postWaiting(db, installation, contextFor, options);
}

async function act(db: Db, installation: number): Promise<void> {
  await db.transaction((trx) =>
    recordAction(trx, {
      ...{ installation, kind: 'match_prepayment', by: { actedBy: 'anna', reason: 'The client told us.' } },
      ...{ input: { payment: 1, prepayments: [1] }, result: { matched: 1 } },
    }),
  );
}

async function signIn(db: Db, { installations }: Config): Promise<string> {
  const id = (await addSubject(db, 'anna', 'en'))!;
  for (const installation of installations)
    for (const role of ['accountant', 'operator'] as const)
      await grantRole(db, id, { role, installation: installation.id, until: null });
  return db.transaction((trx) => beginSession(trx, id, null));
}
