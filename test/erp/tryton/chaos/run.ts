// npm run chaos -- --erp tryton --rounds 30 [--seed N] [--entries N] [--verbose]
// Deliveries into a real Tryton while the worker is killed, requests are cut, Tryton is killed and its database is locked, at
// random moments. At the end of each round, every entry is in Tryton exactly once, posted and equal, and no draft is left.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TrytonServer } from '../../../../scripts/tryton/server.ts';
import { type Db, openDatabase } from '../../../../src/db/pool.ts';
import type { DraftEntry } from '../../../../src/domain/entry.ts';
import { startEphemeralPostgres } from '../../../../src/embedded/index.ts';
import { companyOf } from '../../../../src/erp/company.ts';
import { companyKey } from '../../../../src/erp/entry-key.ts';
import { enqueueUnits } from '../../../../src/erp/outbox/enqueue.ts';
import { appendEntries } from '../../../../src/ledger/journal/append-entries.ts';
import { migrateAsOwner } from '../../../../src/runtime/database.ts';
import { draft } from '../../../ledger/drafts.ts';
import { TcpProxy } from '../../../support/proxy.ts';
import { query } from '../../../support/sql.ts';
import { configOf, hasTryton, openTestTryton, TrytonPerson } from '../../../support/tryton.ts';
import { reversal } from '../../drafts.ts';
import type { WorkerSettings } from './worker.ts';

const mayWorkSeconds = 8;
const batchEntries = 15;
const disturbances = 6;
const longestRoundMs = 400_000;

interface Setting {
  db: Db;
  databaseUrl: string;
  tryton: TrytonServer;
  proxy: TcpProxy;
  person: TrytonPerson;
  entries: number;
  verbose: boolean;
}

/** Plays rounds by the arguments. Returns the exit code. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      erp: { type: 'string' },
      rounds: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      entries: { type: 'string', default: '60' },
      verbose: { type: 'boolean', default: false },
    },
  });
  if (!hasTryton) return 1;
  const postgres = await startEphemeralPostgres((line) => console.error(line));
  await migrateAsOwner(postgres);
  const tryton = await openTestTryton();
  const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(tryton.url).port) });
  await proxy.listen();
  const db = openDatabase(postgres.ownerUrl);
  const person = await TrytonPerson.logIn(tryton, 'admin');
  const setting = { db, databaseUrl: postgres.url, tryton, proxy, person };
  let failed = 0;
  try {
    const first = Number(values.seed);
    for (let seed = first; seed < first + Number(values.rounds); seed++) {
      const began = performance.now();
      const wrong = await playRound({ ...setting, entries: Number(values.entries), verbose: values.verbose }, seed);
      const seconds = Math.round((performance.now() - began) / 1_000);
      console.log(
        `round ${seed}: ${wrong.length === 0 ? 'right' : `WRONG: ${wrong.slice(0, 5).join('; ')}`}, ${seconds} s`,
      );
      if (wrong.length > 0) failed += 1;
    }
  } finally {
    proxy.close();
    await db.destroy();
    await tryton.release();
    await postgres.release();
  }
  console.log(`${values.rounds} rounds, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function playRound(setting: Setting, seed: number): Promise<string[]> {
  const { db, tryton, proxy, verbose } = setting;
  const random = randomOf(seed);
  const installation = seed;
  const databaseId = randomBytes(8).toString('hex');
  const company = companyKey(companyOf(configOf(tryton, { url: proxy.url })));
  const drafts = draftsOf(setting.entries);
  const ids = await db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null }));
  const reversed = drafts.flatMap((entry, index) => (index % 10 === 3 ? [reversal(ids[index] ?? '', entry)] : []));
  await db.transaction((trx) => appendEntries(trx, installation, reversed, { decimals: 2, windowId: null }));
  await db.transaction((trx) => enqueueUnits(trx, { installation, databaseId, company, from: null, auto: true }));

  let workers = 0;
  const launch = () => {
    const { user, password } = tryton.users.api;
    const settings: WorkerSettings = {
      ...{
        databaseUrl: setting.databaseUrl,
        databaseId,
        installation,
        holder: `worker ${random() < 0.5 ? 0 : ++workers}`,
      },
      ...{ url: proxy.url, database: tryton.database, user, password, mayWorkSeconds, batchEntries },
    };
    return fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
      env: { ...process.env, CHAOS_WORKER: JSON.stringify(settings) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  };
  let worker: ChildProcess = launch();
  const isDone = () => worker.exitCode === 0;
  const say = (line: string) => void (verbose && console.log(`    ${line}`));
  for (let n = 0; n < disturbances && !isDone(); n++) {
    // Most disturbances matter only during a request, so this waits for one.
    await sleep(random() * 2_500);
    for (let waited = 0; proxy.busy === 0 && waited < 4_000 && random() < 0.98; waited += 10) await sleep(10);
    await sleep(random() * 300);
    const which = Math.floor(random() * 4);
    if (which === 0) {
      say('the worker is killed');
      await killed(worker);
      worker = launch();
    } else if (which === 1) {
      for (let waited = 0; proxy.busy === 0 && waited < 6_000; waited += 2) await sleep(2);
      await sleep(random() * 30);
      say(`${proxy.cut()} connections are cut`);
    } else if (which === 2) {
      say('Tryton is killed');
      await tryton.kill();
      await sleep(random() * 2_000);
      await tryton.start();
    } else await locked(tryton, random() * 6_000, say);
  }
  const until = performance.now() + longestRoundMs;
  while (!isDone() && performance.now() < until) {
    await sleep(200);
    if (worker.exitCode !== null && worker.exitCode !== 0) {
      say(`the worker ended with ${worker.exitCode}`);
      worker = launch();
    }
  }
  await killed(worker);
  return faults(setting, installation);
}

async function locked(tryton: TrytonServer, ms: number, say: (line: string) => void): Promise<void> {
  let unlock: () => void;
  try {
    unlock = tryton.lockDatabase();
  } catch {
    // Tryton is writing at this moment.
    return;
  }
  say(`the database is locked for ${Math.round(ms)} ms`);
  await sleep(ms);
  unlock();
}

async function killed(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const ended = new Promise((done) => worker.once('exit', done));
  worker.kill('SIGKILL');
  await ended;
}

function draftsOf(count: number): DraftEntry[] {
  return Array.from({ length: count }, (_, n) => {
    const [net, tax, gross] = [`${n + 1}.00`, `0.${String((n % 90) + 10)}`, `${n + 1}.${String((n % 90) + 10)}`];
    const date = `2026-03-${String((n % 28) + 1).padStart(2, '0')}`;
    return n % 3 === 0
      ? draft({
          ...{ kind: 'payment', id: n + 1, date },
          lines: [
            ['1910', 'bank_clearing', gross],
            ['1700', 'receivable', `-${gross}`],
          ],
        })
      : draft({
          ...{ kind: 'invoice', id: n + 1, date },
          lines: [
            ['1700', 'receivable', gross],
            ['3000', 'revenue', `-${net}`],
            ['2931', 'vat', `-${tax}`],
          ],
        });
  });
}

interface Move {
  id: number;
  state: string;
  description: string;
  date: { year: number; month: number; day: number };
  'lines.': { debit: { decimal: string }; credit: { decimal: string }; 'account.': { code: string } }[];
}

/** Compares Tryton's books with ours, without the target's code. */
async function faults({ db, person }: Setting, installation: number): Promise<string[]> {
  const wrong: string[] = [];
  const units = await query<{
    unit: string;
    key: string;
    state: string;
    problem: string | null;
    lines: string;
    day: string;
  }>(
    db,
    `select u.unit_id as unit, u.erp_key as key, u.state, u.problem_message as problem, to_char(e.entry_date, 'YYYY-MM-DD') as day,
       (select string_agg(l.account || ' ' || (case l.side when 'debit' then '' else '-' end) || trim_scale(l.amount)::text, ', '
          order by l.account collate "C") from entry_line l where l.entry_id = e.id) as lines
     from erp_unit u join entry e on e.id = u.unit_id where u.installation = ?`,
    [installation],
  );
  const fields = ['state', 'description', 'date', 'lines.debit', 'lines.credit', 'lines.account.code'];
  const moves = await person.call<Move[]>(
    ...([
      'model.account.move.search_read',
      [['description', 'like', `% ${installation}/%`]],
      0,
      null,
      null,
      fields,
    ] as const),
  );
  const byKey = Map.groupBy(moves, ({ description }) => description.slice(-21, -1));
  for (const { unit, key, state, problem, lines, day } of units) {
    if (state !== 'delivered') wrong.push(`${unit} is ${state} (${problem ?? ''})`);
    const found = byKey.get(key) ?? [];
    byKey.delete(key);
    if (found.length !== 1) wrong.push(`${unit} is in Tryton ${found.length} times`);
    const [move] = found;
    if (move === undefined) continue;
    if (move.state !== 'posted') wrong.push(`${unit} is ${move.state} in Tryton`);
    const { year, month, day: ofMonth } = move.date;
    const date = [year, String(month).padStart(2, '0'), String(ofMonth).padStart(2, '0')].join('-');
    if (date !== day) wrong.push(`${unit} is dated ${date} in Tryton, and ${day} in our books`);
    const held = move['lines.']
      .map((line) => `${line['account.'].code} ${textOf(line)}`)
      .toSorted()
      .join(', ');
    if (held !== lines) wrong.push(`${unit}: ${held} in Tryton, ${lines} in our books`);
  }
  for (const [key, found] of byKey) wrong.push(`${found.length} of ${key} in Tryton are none of ours`);
  return wrong;
}

function textOf({ debit, credit }: Move['lines.'][number]): string {
  const bare = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  const [ofDebit, ofCredit] = [bare(debit.decimal), bare(credit.decimal)];
  return ofCredit === '0' ? ofDebit : `-${ofCredit}`;
}

/** Seeded numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await run(process.argv.slice(2)));
