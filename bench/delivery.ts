// Compares delivery into a real Tryton with a bare loop of the same requests, alternating in one run. Both send the
// same entries in batches of the same size into new databases of one server: create, read back, post, read back again.
// The bare loop knows all ids in advance, compares nothing and stores nothing. Afterwards open items are matched, once
// with the partial reads that vetledger uses and once with whole entries. Run: `node bench/delivery.ts [--invoices N]
// [--pairs N] [--matching] [--print]`. With --matching it measures only the matching; with --print it does not write
// bench/RESULTS.md. It finds an installed Tryton (`npm run tryton -- --install-only`) in the same places as the tests.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSandbox } from '../sandbox/src/index.ts';
import type { TrytonServer } from '../scripts/tryton/server.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { deliverSlice } from '../src/erp/deliver/slice.ts';
import { companyKey } from '../src/erp/entry-key.ts';
import type { ErpEntry } from '../src/erp/erp-entry.ts';
import { matchOpenItems } from '../src/erp/open-items/match-open-items.ts';
import { enqueueUnits } from '../src/erp/outbox/enqueue.ts';
import type { ErpTarget } from '../src/erp/port.ts';
import { strategyOf } from '../src/erp/strategy.ts';
import { resolveEntries } from '../src/erp/targets/api/resolve.ts';
import { trytonCapabilities } from '../src/erp/targets/tryton/capabilities.ts';
import { openTryton, TrytonApi } from '../src/erp/targets/tryton/index.ts';
import type { TrytonRecords } from '../src/erp/targets/tryton/names.ts';
import { translate } from '../src/erp/translate.ts';
import { loadUnits } from '../src/ledger/general-ledger.ts';
import type { JsonObject } from '../src/records/json.ts';
import { type App, openApp } from '../src/runtime/app.ts';
import { systemClock } from '../src/runtime/system-clock.ts';
import { startEngine } from '../src/runtime/worker.ts';
import { runWindowNow } from '../src/windows/run-window.ts';
import { demoConfig } from '../test/support/demo-config.ts';
import { query } from '../test/support/sql.ts';
import { configOf, hasTryton, openTestTryton, TrytonPerson } from '../test/support/tryton.ts';
import { machine, writeSection } from './measure.ts';
import { count, fixed, median, table } from './parts/figures.ts';

const { values: options } = parseArgs({
  options: {
    invoices: { type: 'string', default: '440' },
    pairs: { type: 'string', default: '5' },
    matching: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
  },
});
const pairs = Number(options.pairs);
const aim = 0.9;
const databaseId = 'bench';
const { batchEntries } = strategyOf(trytonCapabilities);
const longestMs = 900_000;
const log = { debug: () => {}, info: () => {}, warn: (fields: object, text: string) => console.error(text, fields) };
const never = new AbortController().signal;
const request = { signal: never, priority: 0 };
/** The fields that the bare loop reads back. */
const moveFields = ['number', 'state', 'date', 'description', 'journal'];
const lineFields = ['move', 'debit', 'credit', 'account', 'party'];
const taxLineFields = ['move_line', 'type', 'amount', 'tax'];

if (!hasTryton) process.exit(2);
const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
// PostgreSQL runs as another user, who must be able to enter the folder.
chmodSync(folder, 0o755);
const sandbox = await startSandbox({ seed: 1, invoices: Number(options.invoices), rateWindowSeconds: 1 });
try {
  const app = await openDemo();
  try {
    await fillBooks(app);
    const tryton = await openTestTryton();
    try {
      await measure(app, tryton);
    } finally {
      await tryton.release();
    }
  } finally {
    await app.close();
  }
} finally {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function openDemo(): Promise<App> {
  const file = join(folder, 'vetledger.yaml');
  const mapping = fileURLToPath(new URL('../mappings/tryton-demo.yaml', import.meta.url));
  writeFileSync(
    file,
    demoConfig([{ id: sandbox.installation, base_url: sandbox.url, mapping, rate_window_seconds: 1 }], {
      data_dir: '.',
    }),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, VETLEDGER_LOG: 'error' };
  return openApp(await loadConfig(file, env), { temporal: true, progress: console.error, env });
}

/** Loads and posts the whole history of the clinic. */
async function fillBooks(app: App): Promise<void> {
  const engine = await startEngine(app, {}, () => {});
  try {
    const window = await runWindowNow(app, engine, sandbox.installation, { trigger: 'bench', signal: never });
    if (window.outcome !== 'closed') throw new Error(window.error?.message);
  } finally {
    await engine.stop();
  }
}

interface Runs {
  connector: { seconds: number; processor: number }[];
  bare: { seconds: number; processor: number }[];
}

/** The entries that both ways deliver. */
interface Work {
  installation: InstallationConfig;
  entries: ErpEntry[];
}

async function measure(app: App, tryton: TrytonServer): Promise<void> {
  const [configured] = app.config.installations;
  const erp = configOf(tryton);
  const installation = { ...configured, erp } as InstallationConfig;
  const to = { installation: installation.id, databaseId, company: 'none yet', from: null, auto: true };
  await app.db.transaction((trx) => enqueueUnits(trx, to));
  const work = { installation, entries: await translated(app, installation) };
  if (!options.matching) await measureDelivery(app, tryton, work);
  await measureMatching(app, tryton, work);
}

async function measureDelivery(app: App, tryton: TrytonServer, work: Work): Promise<void> {
  const runs: Runs = { connector: [], bare: [] };
  for (let pair = 1; pair <= pairs; pair += 1) {
    for (const way of ['bare', 'connector'] as const) {
      const database = `${way}${pair}`;
      await tryton.newDatabase(database);
      const server = { ...tryton, database };
      await makeParties(server, work);
      const before = processorSeconds(server);
      const seconds = way === 'bare' ? await bareLoop(server, work) : await connector(app, server, work);
      const processor = processorSeconds(server) - before;
      await expectPosted(server, work);
      runs[way].push({ seconds, processor });
      console.error(
        `${database}: ${work.entries.length} entries in ${fixed(seconds)} s, ${fixed(processor)} s of processors`,
      );
    }
  }
  report(work, runs);
}

type ReadWay = 'lines only' | 'whole entries';

/** Matches all open items of one database in both ways several times. Between two rounds, the matches are removed. */
async function measureMatching(app: App, tryton: TrytonServer, work: Work): Promise<void> {
  const database = 'matching';
  await tryton.newDatabase(database);
  const server = { ...tryton, database };
  await makeParties(server, work);
  await connector(app, server, work);
  const runs: Record<ReadWay, { seconds: number; processor: number }[]> = { 'lines only': [], 'whole entries': [] };
  let groups: string[][] = [];
  for (let pair = 1; pair <= pairs; pair += 1) {
    for (const way of ['whole entries', 'lines only'] as const) {
      const target = openTryton(configOf(server), {
        ...{ databaseId, installation: work.installation.id, clock: systemClock, log },
      });
      if (groups.length > 0) await target.matching?.unmatch(groups, { ...request, attemptId: '' });
      const before = processorSeconds(server);
      const seconds = await match(app, work, { target, way });
      const processor = processorSeconds(server) - before;
      await target.close();
      const found = await query<{ lines: string[] }>(app.db, 'select line_ids as lines from erp_item_match');
      if (groups.length > 0 && found.length !== groups.length) throw new Error('other groups than before');
      groups = found.map(({ lines }) => lines);
      runs[way].push({ seconds, processor });
      console.error(`${way}: ${groups.length} groups in ${fixed(seconds)} s, ${fixed(processor)} s of processors`);
    }
  }
  reportMatching(work, groups.length, runs);
}

/** Returns the seconds until no open item is left to match. */
async function match(
  { db }: App,
  { installation }: Work,
  { target, way }: { target: ErpTarget; way: ReadWay },
): Promise<number> {
  await query(db, 'delete from erp_item_match');
  await query(db, 'update erp_open_item set matched = 0, not_before = null, remark = null');
  const asked = way === 'lines only' ? target : readingWhole(target);
  const ports = { db, installation, target: asked, holder: 'bench', clock: systemClock, signal: never, log };
  const started = performance.now();
  const { left } = await matchOpenItems(ports, { longestMs, mostItems: Number.MAX_SAFE_INTEGER });
  if (left > 0) throw new Error(`${left} open items are left`);
  return (performance.now() - started) / 1000;
}

/** A target that always reads whole entries. */
function readingWhole(target: ErpTarget): ErpTarget {
  const { capabilities, company, matching } = target;
  return {
    ...{ capabilities, company, ...(matching && { matching }) },
    identify: async (options) => (await target.identify?.(options)) ?? company,
    find: (keys, options) => target.find(keys, options),
    keyed: (which, options) => target.keyed(which, options),
    create: (entries, options) => target.create(entries, options),
    post: (ids, options) => target.post(ids, options),
    withdrawDrafts: (ids, options) => target.withdrawDrafts(ids, options),
    read: (ids, options) => target.read(ids, options),
    periods: (options) => target.periods(options),
    check: (plan, options) => target.check(plan, options),
    close: () => target.close(),
  };
}

function reportMatching(
  { entries }: Work,
  groups: number,
  runs: Record<ReadWay, { seconds: number; processor: number }[]>,
): void {
  const [, , load = 0] = loadavg();
  const row = (way: ReadWay) => {
    const seconds = runs[way].map((run) => run.seconds);
    return [
      ...[way, fixed(median(seconds), 1), fixed(Math.min(...seconds), 1), fixed(Math.max(...seconds), 1)],
      fixed(median(runs[way].map(({ processor }) => processor)), 1),
    ];
  };
  const text = [
    ...machine(),
    '',
    `${count(groups)} groups of the receivable lines of ${count(entries.length)} entries, which one Tryton 8.0 on SQLite has already; ${pairs} runs each in turns,`,
    'and undone in between. Entries are read before and after: only their lines on the accounts that are matched, or whole, with all',
    `lines, taxes and analytic lines. The machine’s load over the last 15 minutes was ${fixed(load, 1)}.`,
    '',
    table(
      ['what is read', 'seconds (median)', 'fastest run', 'slowest run', 'processor seconds of Tryton and Node.js'],
      [row('lines only'), row('whole entries')],
    ),
  ].join('\n');
  console.log(text);
  if (!options.print) writeSection('Matching in Tryton', text);
}

/** The entries in the order in which they are delivered. */
async function translated({ db }: App, { id, mapping }: InstallationConfig): Promise<ErpEntry[]> {
  const units = await query<{ kind: 'entry' | 'daily_summary'; id: string }>(
    db,
    'select kind, unit_id as id from erp_unit where installation = ? order by is_backlog, kind, seq',
    [id],
  );
  const loaded = new Map((await loadUnits(db, units)).map((unit) => [unit.posting.id, unit]));
  return units.map((unit) => {
    const entry = translate(loaded.get(unit.id)!, { databaseId, mapping, capabilities: trytonCapabilities });
    if ('problems' in entry) throw new Error(JSON.stringify(entry.problems));
    return entry.entry;
  });
}

/** Creates the parties of the entries before the measurement, because creating them is not part of it. */
async function makeParties(server: TrytonServer, { entries }: Work): Promise<void> {
  const ours = entries.flatMap(({ lines }) => lines.flatMap(({ party }) => (party?.isOurs ? [party] : [])));
  const parties = new Map(ours.map((party) => [party.code, party]));
  const values = [...parties.values()].map(({ code, name }) => ({
    name: name ?? code,
    identifiers: [['create', [{ code }]]],
  }));
  const person = await TrytonPerson.logIn(server, 'api');
  await person.call('model.party.party.create', values);
}

async function expectPosted(server: TrytonServer, { entries }: Work): Promise<void> {
  const person = await TrytonPerson.logIn(server, 'api');
  const posted = await person.call<number>('model.account.move.search_count', [['state', '=', 'posted']]);
  if (posted !== entries.length) throw new Error(`${posted} of ${entries.length} moves are posted`);
}

/** Returns the seconds of a whole delivery: login, the outbox in PostgreSQL, periods, look-ups, comparisons. */
async function connector(app: App, server: TrytonServer, { installation, entries }: Work): Promise<number> {
  // Resets every unit to its state before the first delivery.
  await query(
    app.db,
    `update erp_unit set state = 'pending', attempt_id = null, attempts = 0, answered = 0, sent_at = null, settled_at = null,
       erp_id = null, erp_number = null, erp_date = null where installation = ?`,
    [installation.id],
  );
  const erp = configOf(server);
  const target = openTryton(erp, { clock: systemClock, log });
  await query(app.db, 'update erp_unit set company = ? where installation = ?', [
    companyKey(target.company),
    installation.id,
  ]);
  const started = performance.now();
  const slice = await deliverSlice(
    {
      ...{ db: app.db, databaseId, installation: { ...installation, erp }, target, holder: 'bench' },
      ...{ clock: systemClock, signal: never, log, onProgress: () => {} },
      pause: (ms) => systemClock.sleep(ms),
    },
    { longestMs },
  );
  const seconds = (performance.now() - started) / 1000;
  await target.close();
  if (slice.delivered !== entries.length) throw new Error(`not all is delivered: ${JSON.stringify(slice)}`);
  return seconds;
}

/** Returns the seconds of the requests alone, with prepared bodies. */
async function bareLoop(server: TrytonServer, work: Work): Promise<number> {
  const moves = await movesOf(server, work);
  const { user, password } = server.users.api;
  const started = performance.now();
  const url = `${server.url}/${server.database}/rpc/`;
  const send = async (method: string, params: unknown[], authorization?: string): Promise<unknown> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify({ id: 1, method, params }),
    });
    const body = (await answer.json()) as { result?: unknown; error?: unknown };
    if (body.error !== undefined) throw new Error(JSON.stringify(body.error));
    return body.result;
  };
  const [id, token] = (await send('common.db.login', [user, { password }, 'en'])) as [number, string];
  const session = `Session ${Buffer.from(`${user}:${id}:${token}`).toString('base64')}`;
  const call = (method: string, ...params: unknown[]) =>
    send(method, [...params, { company: 1, language: 'en' }], session);
  const readBack = async (ids: unknown) => {
    await call('model.account.move.read', ids, moveFields);
    const lines = (await call(
      'model.account.move.line.search_read',
      [['move', 'in', ids]],
      0,
      null,
      null,
      lineFields,
    )) as {
      id: number;
    }[];
    const ofLines = [['move_line', 'in', lines.map((line) => line.id)]];
    await call('model.account.tax.line.search_read', ofLines, 0, null, null, taxLineFields);
  };
  for (let at = 0; at < moves.length; at += batchEntries) {
    const ids = await call('model.account.move.create', moves.slice(at, at + batchEntries));
    await readBack(ids);
    await call('model.account.move.post', ids);
    await readBack(ids);
  }
  return (performance.now() - started) / 1000;
}

/** The values of the moves, with the ids of this database. */
async function movesOf(server: TrytonServer, { installation, entries }: Work): Promise<JsonObject[]> {
  const api = new TrytonApi(configOf(server), { clock: systemClock, log });
  try {
    const resolved = await resolveEntries<TrytonRecords>(api, entries, request);
    const all = entries.map(({ key, unitId }) => {
      const found = resolved.entries.get(key);
      if (found === undefined) throw new Error(`${unitId} of ${installation.id}: ${resolved.problems[0]?.message}`);
      return found;
    });
    return await api.movesOf(all, request);
  } finally {
    await api.close();
  }
}

/**
 * The processor seconds of Tryton and of this process, which other work on the machine hardly changes. Only on Linux; 0
 * elsewhere.
 */
function processorSeconds(server: TrytonServer): number {
  const record = join(server.databaseFile(), '../../../services/tryton/server.json');
  const { pid } = JSON.parse(readFileSync(record, 'utf8')) as { pid: number };
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return 0;
  // The 14th and 15th fields are user and system ticks of a hundredth of a second.
  const fields = readFileSync(stat, 'utf8').split(') ').at(-1)!.split(' ');
  const { user, system } = process.cpuUsage();
  return (Number(fields[11]) + Number(fields[12])) / 100 + (user + system) / 1e6;
}

function report({ entries }: Work, runs: Runs): void {
  const speeds = (way: keyof Runs) => runs[way].map(({ seconds }) => entries.length / seconds);
  const ratio = median(speeds('connector')) / median(speeds('bare'));
  const pairwise = runs.bare.map(({ seconds }, index) => seconds / runs.connector[index]!.seconds);
  const processors = (way: keyof Runs) => median(runs[way].map(({ processor }) => processor));
  const row = (name: string, way: keyof Runs, of: number) => [
    name,
    fixed(median(speeds(way)), 1),
    fixed(Math.min(...speeds(way)), 1),
    fixed(Math.max(...speeds(way)), 1),
    fixed(of),
    fixed(processors(way), 1),
  ];
  const lines = entries.flatMap((entry) => entry.lines);
  const [, , load = 0] = loadavg();
  const text = [
    ...machine(),
    '',
    `${count(entries.length)} entries of the sandbox clinic with ${count(lines.length)} lines into Tryton 8.0 on SQLite, in batches of ${batchEntries}; ${pairs} runs each in`,
    'turns, each into a fresh database that has the clients already. Bare loop: login, create, read-back of moves, lines and tax lines,',
    'post, read-back; ids known beforehand, nothing compared. vetledger: a whole slice of delivery, without matching; it also reads',
    'periods, names and analytic lines.',
    '',
    `Aim: a ratio of the medians of ${aim}: ${ratio >= aim ? 'reached' : 'not reached'}. Ratios of the pairs: ${pairwise.map((each) => fixed(each)).join(', ')}. The machine’s load over the last 15`,
    `minutes was ${fixed(load, 1)}${load > cpus().length ? ': other work ran on it meanwhile' : ''}. By processor seconds the ratio is ${fixed(processors('bare') / processors('connector'))}; the median of the pairs is ${fixed(median(pairwise))}.`,
    '',
    table(
      [
        'what',
        'entries/s (median)',
        'slowest run',
        'fastest run',
        'of the bare loop’s speed',
        'processor seconds of Tryton and Node.js',
      ],
      [row('vetledger', 'connector', ratio), row('bare loop', 'bare', 1)],
    ),
  ].join('\n');
  console.log(text);
  if (!options.print) writeSection('Delivery into Tryton', text);
}
