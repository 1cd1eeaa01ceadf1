// The three programs that are compared, with one interface: each loads the source's records into its database,
// repeatedly.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { demoConfig, fromEnvironment } from '../../test/support/demo-config.ts';
import type { ListCounts } from './clinic.ts';
import { lists } from './figures.ts';
import { type Command, type Ended, type Running, run, start } from './processes.ts';
import type { Source } from './sandbox.ts';
import type { Services } from './services.ts';
import { peerCommand } from './venvs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const timeoutMs = 3_600_000;

export type Versions = Record<keyof ListCounts, Map<number, number | null>>;

export interface Engine {
  name: string;
  /** Runs once to its end; throws if the run fails. `full` is the first load; other runs load changes. */
  run(full?: boolean): Promise<Ended>;
  start(full?: boolean): Running;
  /** The ids of all records that it holds, with `modified` (milliseconds) if it stores that. */
  versions(): Promise<Versions>;
  counts(): Promise<ListCounts>;
  /**
   * Seconds from the start of the first pull activity to the end of the last one. Only for programs that do other work
   * too.
   */
  pullSeconds?(): Promise<number>;
  /** The times at which entries were posted, in order. Only for programs that post entries. */
  entries?(): Promise<{ kind: string; at: number }[]>;
  dispose(): Promise<void>;
}

export interface EngineOptions {
  source: Source;
  services: Services;
  pageSize?: number;
  overlapSeconds?: number;
  /** For dlt: a full load replaces the tables without staging; other runs always merge. */
  replace?: boolean;
  airbyteKeeps?: boolean;
  /** For vetledger: additional environment variables. */
  env?: Record<string, string>;
  /** For vetledger: whether it writes entry ids back, which is its default. The other programs only read. */
  writesBack?: boolean;
}

export type EngineName = 'vetledger' | 'dlt' | 'airbyte';

export async function openEngine(name: EngineName, options: EngineOptions): Promise<Engine> {
  if (name === 'vetledger') return vetledger(options);
  return name === 'dlt' ? dlt(options) : airbyte(options);
}

export interface Vetledger extends Engine {
  databaseUrl: string;
  /** A connection as the database's owner, who may create a history. */
  ownerUrl: string;
  configFile: string;
  daemon(): Running;
  /** Runs `vetledger reconcile` to its end; throws if it finds a difference. */
  reconcile(): Promise<Ended>;
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
}

/** vetledger's limits for sandboxes without limits. */
const unlimited = 1_000_000_000;

export async function vetledger({
  source,
  services,
  overlapSeconds = 600,
  env,
  writesBack = true,
}: EngineOptions): Promise<Vetledger> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
  const database = await services.newDatabase();
  // Bars writing to the source, as for a copy of the books.
  const bar = `insert into vetledger.copy_bar (kind, key) values ('source', $1)`;
  if (!writesBack) await database.client.query(bar, [new URL(source.url).origin]);
  const configFile = join(folder, 'vetledger.yaml');
  const isUnlimited = source.settings.rateWindowSeconds === 0;
  const actions = Object.fromEntries(lists.map((list) => [`${list}.list`, unlimited]));
  const limits = { unknown: { list: unlimited, retrieve: unlimited, write: unlimited }, actions };
  writeFileSync(
    configFile,
    demoConfig(
      [
        {
          id: source.installation,
          base_url: source.url,
          rate_window_seconds: isUnlimited ? 1 : source.settings.rateWindowSeconds,
          overlap_seconds: overlapSeconds,
          // The code writes JSON, which is valid YAML.
          ...(isUnlimited ? { practice_api: JSON.stringify({ limits }) } : {}),
        },
      ],
      {
        data_dir: folder,
        schedule: '{every: 1h}',
        database_url: fromEnvironment('DATABASE_URL'),
        temporal: `{address: "${services.temporalAddress}"}`,
        window_timeout_minutes: 240,
      },
    ),
  );
  const command = (...args: string[]): Command => ({
    // The program is run as an executable, because its first line sets flags of Node.js.
    command: join(root, 'bin/vetledger.js'),
    args: [...args, '--config', configFile],
    env: { PRACTICE_TOKEN: source.token, DATABASE_URL: database.url, ...env },
    timeoutMs,
  });
  const query = async <Row extends pg.QueryResultRow>(text: string) => (await database.client.query<Row>(text)).rows;
  const kinds = {
    invoice: 'invoice',
    row: 'invoicerow',
    payment: 'invoicepayment',
    prepayment: 'unallocatedpayment',
  } as const;
  const versions = async () => {
    const found = emptyVersions();
    const rows = await query<{ kind: keyof typeof kinds; id: string; modified: Date | null }>(
      'select kind, id, modified from mirror_record where gone_at is null',
    );
    for (const { kind, id, modified } of rows) found[kinds[kind]].set(Number(id), modified?.getTime() ?? null);
    return found;
  };
  return {
    name: 'vetledger',
    databaseUrl: database.url,
    ownerUrl: database.ownerUrl,
    configFile,
    run: () => run(command('sync', '--json')),
    start: () => start(command('sync', '--json')),
    daemon: () => start(command('run')),
    reconcile: () => run(command('reconcile', '--json')),
    versions,
    counts: async () => {
      const found = await query<{ kind: keyof typeof kinds; n: number }>(
        'select kind, count(*)::int as n from mirror_record where gone_at is null group by kind',
      );
      return { ...nothing, ...Object.fromEntries(found.map(({ kind, n }) => [kinds[kind], n])) };
    },
    query,
    pullSeconds: async () => {
      const [window] = await query<{ workflow_id: string; run_id: string }>(
        'select workflow_id, run_id from sync_window order by id desc limit 1',
      );
      return services.activitySeconds(window!.workflow_id, window!.run_id, /^pull/);
    },
    entries: async () =>
      (await query<{ kind: string; created_at: Date }>('select kind, created_at from entry order by created_at')).map(
        ({ kind, created_at }) => ({ kind, at: created_at.getTime() }),
      ),
    dispose: async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function dlt({
  source,
  services,
  pageSize = 1000,
  overlapSeconds = 600,
  replace = false,
}: EngineOptions): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-dlt-'));
  const database = await services.newDatabase();
  const { python, program, version } = await peerCommand('dlt');
  const command = (): Command => ({
    command: python,
    args: [
      ...[
        program,
        '--url',
        source.api,
        '--token',
        source.token,
        '--database-url',
        database.ownerUrl,
        '--folder',
        folder,
      ],
      ...['--mode', replace ? 'full' : 'incremental', '--page-size', String(pageSize)],
      ...['--lag-seconds', String(overlapSeconds)],
    ],
    timeoutMs,
  });
  const versions = async () => {
    const found = emptyVersions();
    for (const list of lists) {
      const column = list === 'invoicepayment' ? 'null::timestamptz' : 'modified';
      const { rows } = await database.client.query<{ id: string; modified: Date | null }>(
        `select id, ${column} as modified from dlt_practice.${list}`,
      );
      for (const { id, modified } of rows) found[list].set(Number(id), modified?.getTime() ?? null);
    }
    return found;
  };
  return {
    name: `dlt ${version}`,
    run: () => run(command()),
    start: () => start(command()),
    versions,
    counts: async () => {
      const counts = { ...nothing };
      for (const list of lists) {
        const { rows } = await database.client.query<{ n: number }>(
          `select count(distinct id)::int as n from dlt_practice.${list}`,
        );
        counts[list] = rows[0]!.n;
      }
      return counts;
    },
    dispose: async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function airbyte({
  source,
  pageSize = 1000,
  overlapSeconds = 600,
  airbyteKeeps = false,
}: EngineOptions): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-airbyte-'));
  const { python, program, version } = await peerCommand('airbyte');
  const command = (): Command => ({
    command: python,
    args: [
      ...[program, '--url', source.api, '--token', source.token, '--folder', folder, '--page-size', String(pageSize)],
      ...['--window-seconds', String(source.settings.rateWindowSeconds)],
      ...['--lookback-seconds', String(overlapSeconds), ...(airbyteKeeps ? ['--seen'] : [])],
    ],
    timeoutMs,
  });
  let last = nothing;
  const noted = async () => {
    const ended = await run(command());
    last = (JSON.parse(ended.stdout.trim().split('\n').at(-1)!) as { records: ListCounts }).records;
    return ended;
  };
  const versions = async () => {
    const found = emptyVersions();
    const seen = JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8')) as Record<
      keyof ListCounts,
      Record<string, string>
    >;
    for (const list of lists) {
      for (const [id, modified] of Object.entries(seen[list]))
        found[list].set(Number(id), modified ? Date.parse(modified) : null);
    }
    return found;
  };
  return {
    name: `Airbyte CDK ${version}`,
    run: noted,
    start: () => start(command()),
    versions,
    counts: async () => last,
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const nothing: ListCounts = { invoice: 0, invoicerow: 0, invoicepayment: 0, unallocatedpayment: 0 };

function emptyVersions(): Versions {
  return { invoice: new Map(), invoicerow: new Map(), invoicepayment: new Map(), unallocatedpayment: new Map() };
}
