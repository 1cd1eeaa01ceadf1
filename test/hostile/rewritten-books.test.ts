import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { ownHolder } from '../../activities/heartbeat.ts';
import { windowActivities } from '../../activities/window.ts';
import { takeLease } from '../../src/db/lease.ts';
import { type Connection, execute } from '../../src/db/rows.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { chainHead } from '../../src/ledger/journal/chain.ts';
import { entryHash } from '../../src/ledger/journal/entry-hash.ts';
import { entriesBySeq } from '../../src/ledger/journal/read-entries.ts';
import { sealBooks } from '../../src/ledger/seals.ts';
import { openWindowRow } from '../../src/sync/sync-windows.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';

const { db, owner, url } = useDatabase();
const pair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = (key: typeof publicKey, type: 'pkcs8' | 'spki') => String(key.export({ type, format: 'pem' }));
  return { privateKey, secret: pem(privateKey, 'pkcs8'), public: pem(publicKey, 'spki') };
};
const keys = pair();
const stranger = pair();

let id = 800;
let folder = '';
beforeEach(() => {
  id += 1;
  folder = folderOf({
    'vetledger.yaml': demoConfig([{ id, base_url: 'http://127.0.0.1:9' }], {
      database_url: fromEnvironment('DATABASE_URL'),
      seal_key: fromEnvironment('VETLEDGER_SEAL_KEY'),
    }),
    'public.pem': keys.public,
    'stranger.pem': stranger.public,
  });
});

const command = (line: string, given: NodeJS.ProcessEnv = {}) =>
  vetledger([...line.replaceAll('@', `${folder}/`).split(' '), '--config', `${folder}/vetledger.yaml`], {
    PRACTICE_TOKEN: 'token',
    DATABASE_URL: url,
    VETLEDGER_SEAL_KEY: keys.secret,
    ...given,
  });

const sale = (document: number, day: string, net = '-100.00') =>
  draft({
    kind: 'invoice',
    id: document,
    date: day,
    lines: [
      ['1700', 'receivable', String(24 - Number(net))],
      ['3000', 'revenue', net],
      ['2930', 'vat', '-24.00'],
    ],
  });
const append = (trx: Connection, ...drafts: ReturnType<typeof sale>[]) =>
  appendEntries(trx, id, drafts, { decimals: 2, windowId: null });
const post = (...drafts: ReturnType<typeof sale>[]) => db.transaction((trx) => append(trx, ...drafts));

/** Rewrites the books like a superuser: changes an amount and recomputes every later hash. */
async function rewriteBooks(): Promise<void> {
  await owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    await execute(trx, 'update entry_line set amount = amount + 1 where entry_id = ? and line in (0, 1)', [
      `${id}/invoice/1/1`,
    ]);
    await execute(
      trx,
      `update account_day d set debit = s.debit, credit = s.credit from (
         select e.entry_date, l.account, coalesce(sum(l.amount) filter (where l.side = 'debit'), 0) as debit,
           coalesce(sum(l.amount) filter (where l.side = 'credit'), 0) as credit
         from entry e join entry_line l on l.entry_id = e.id where e.installation = ? group by 1, 2) s
       where d.installation = ? and d.entry_date = s.entry_date and d.account = s.account`,
      [id, id],
    );
    let previous = '0'.repeat(64);
    for await (const entry of entriesBySeq(trx, id)) {
      const hash = entryHash(previous, entry);
      await execute(trx, 'update entry set previous_hash = ?, hash = ? where id = ?', [previous, hash, entry.id]);
      previous = hash;
    }
  });
}

/** Runs a statement with the rights to change everything in the database. */
const asSuperuser = (sql: string) =>
  owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    await execute(trx, sql, [id]);
  });

describe('books that a person with all rights rewrote, including the hashes', () => {
  let noted = '';
  beforeEach(async () => {
    await post(sale(1, '2026-01-15'), sale(2, '2026-01-20'));
    await db.transaction((trx) => sealBooks(trx, id, keys.privateKey));
    await post(sale(3, '2026-02-01'));
    noted = (await command('ledger verify --json')).json().installations[0].head.hash;
    await command('export --format hledger --out @books.journal');
  });

  it('do not meet a seal, though the key is not at hand; without the seals they are whole for themselves', async () => {
    await rewriteBooks();
    expect((await command('ledger verify --json')).json()).toMatchObject({
      ok: false,
      installations: [
        { broken: { seq: null, entryId: 'seal 1', message: expect.stringContaining('entry 2 of the chain') } },
      ],
    });
    await asSuperuser('delete from seal where installation = ?');
    expect((await command('ledger verify --json')).json()).toMatchObject({ ok: true, installations: [{ entries: 3 }] });
  });

  it('do not go through a head that was noted before', async () => {
    expect(await command(`ledger verify --head ${noted.toUpperCase()}`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('link 3 of the journal'),
    });
    await rewriteBooks();
    await asSuperuser('delete from seal where installation = ?');
    const told = await command(`ledger verify --head ${noted}`);
    expect(told).toMatchObject({ code: 1, stdout: expect.stringContaining('is NOT in the chain') });
    expect(told.stdout).toContain('is unchanged');
    expect(await command('ledger verify --head abc')).toMatchObject({ code: 2 });
  });

  it('do not go through their seals', async () => {
    const sound = (await command('ledger verify --public-key @public.pem --json')).json();
    expect(sound).toMatchObject({ ok: true, installations: [{ seals: { ok: true, count: 1, last: { seq: 2 } } }] });
    expect((await command('ledger verify --public-key @public.pem')).stdout).toMatch(/newest seal, of .* up to link 2/);
    await rewriteBooks();
    const told = await command('ledger verify --public-key @public.pem');
    expect(told).toMatchObject({ code: 1, stdout: expect.stringMatching(/does not contain the head that seal 1 of/) });
  });

  it('cannot be sealed anew without the key: seals of another key, a removed seal and no seal at all are reported', async () => {
    await db.transaction((trx) => sealBooks(trx, id, keys.privateKey));
    await rewriteBooks();
    const defect = async () => {
      const { code, json } = await command('ledger verify --public-key @public.pem --json');
      return [code, json().installations[0].seals.defect];
    };
    await asSuperuser('delete from seal where installation = ? and n = 1');
    expect(await defect()).toEqual([1, 'seal 1 is missing']);
    await asSuperuser('delete from seal where installation = ?');
    expect(await defect()).toEqual([1, 'there is no seal']);
    await db.transaction((trx) => sealBooks(trx, id, stranger.privateKey));
    expect(await defect()).toEqual([1, 'seal 1 is not signed by this key']);
  });

  it('are not those that an export was made from; a changed file, or one of another key, is reported, too', async () => {
    const check = async (key = 'public') => {
      const { code, json } = await command(`ledger verify --export @books.journal --public-key @${key}.pem --json`);
      return [code, json().export.defect];
    };
    expect(await check()).toEqual([0, null]);
    expect(await check('stranger')).toEqual([1, 'its seal is not signed with this key']);
    await rewriteBooks();
    expect(await check()).toEqual([1, expect.stringMatching(/its head .* is not in the books/)]);
    const file = `${folder}/books.journal`;
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('24.00', '25.00'));
    expect(await check()).toEqual([1, 'its content differs from the export']);
    writeFileSync(file, text);
    appendFileSync(file, '\n2026-03-01 added\n');
    expect(await check()).toEqual([1, expect.stringMatching(/has no seal/)]);
  });
});

test('a CSV is checked with what its export wrote to stderr', async () => {
  await post(sale(1, '2026-01-15'));
  const { stderr } = await command('export --format csv --out @books.csv');
  writeFileSync(`${folder}/books.csv.seal`, stderr);
  const check = 'ledger verify --export @books.csv --public-key @public.pem';
  expect(await command(check)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('unchanged since its export'),
  });
  appendFileSync(`${folder}/books.csv`, 'x\r\n');
  expect(await command(check)).toMatchObject({ code: 1, stdout: expect.stringContaining('NOT proven') });
});

test('the books are closed while they are verified: no entry looks missing', async () => {
  await post(sale(1, '2026-01-15'));
  const walk = await owner.transaction(async (trx) => {
    // The verification has read the closes and waits for the entries.
    await execute(trx, 'lock table entry in access exclusive mode');
    const verified = command('ledger verify --json');
    await untilSomebodyWaits();
    await execute(trx, `insert into ledger_close (installation, through) values (?, '2026-01-31')`, [id]);
    await append(trx, sale(2, '2026-02-01'));
    return { verified };
  });
  expect((await walk.verified).json()).toMatchObject({ ok: true, installations: [{ entries: 1, head: { seq: 1 } }] });
  expect((await command('ledger verify --json')).json()).toMatchObject({ ok: true, installations: [{ entries: 2 }] });
});

/** Waits until another session of this database waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  const waiting = `select count(*)::int as n from pg_locks
    where not granted and database = (select oid from pg_database where datname = current_database())`;
  while ((await query<{ n: number }>(db, waiting))[0]?.n === 0);
}

test('closing the books prints where they end, and seals that', async () => {
  await post(sale(1, '2026-01-15'));
  const closed = (await command('ledger close --through 2026-01-31 --yes --json')).json().installations[0];
  expect(closed).toMatchObject({ entries: 1, head: { seq: 2, hash: (await chainHead(db, id)).hash } });
  expect((await command('ledger verify --public-key @public.pem --json')).json()).toMatchObject({
    installations: [{ seals: { ok: true, last: { n: 1, seq: 2, hash: closed.head.hash } } }],
  });
});

describe('a window that ends', () => {
  const log: string[] = [];
  const close = async () => {
    const input: WindowInput = {
      ...{ installation: id, trigger: 'manual', kind: 'window', windowTimeoutSeconds: null },
      ...{ searchAttributes: false, fromDate: null },
    };
    const deps = {
      db,
      installations: new Map(),
      sealKey: keys.privateKey,
      log: pino({ level: 'warn' }, { write: (line: string) => log.push(line) }),
    } as Partial<ActivityDeps> as ActivityDeps;
    const now = new Date().toISOString();
    const identity = { currency: 'EUR', timezone: 'UTC', source: 'https://a.example' };
    const opened = { opened: { sourceTime: now, askedAt: now }, remarks: [], identity };
    const workflow = { workflowId: `window of ${id}`, runId: randomUUID() };
    await new MockActivityEnvironment({ workflowExecution: workflow }).run(async () => {
      const lease = await takeLease(db, { installation: id, lane: 'live' }, ownHolder());
      const row = await openWindowRow(db, {
        ...{ installation: id, kind: 'window', trigger: 'manual', from: null, to: now, spans: null },
        ...workflow,
      });
      if (row === null || lease === null) throw new Error('the window has ended already');
      const counts = {} as Parameters<ReturnType<typeof windowActivities>['closeWindow']>[2];
      await windowActivities(deps).closeWindow(input, { ...row, ...opened, token: lease.token }, counts);
    });
  };
  const seals = () => query(db, `select n, seq from seal where installation = ${id} order by n`);

  it('seals what was posted, and nothing where nothing was', async () => {
    await close();
    expect(await seals()).toEqual([]);
    await post(sale(1, '2026-01-15'));
    await close();
    await close();
    await post(sale(2, '2026-01-15'));
    await close();
    expect(await seals()).toEqual([
      { n: 1, seq: 1 },
      { n: 2, seq: 2 },
    ]);
  });

  it('ends though it could not be sealed; that is logged, `status` counts what is not sealed, and the next one seals', async () => {
    await post(sale(1, '2026-01-15'));
    await execute(owner, `alter table seal add constraint broken check (installation <> ${id})`);
    await close();
    await execute(owner, 'alter table seal drop constraint broken');
    expect(log.join()).toMatch(/could not be sealed/);
    expect(await query(db, `select outcome from sync_window where installation = ${id}`)).toEqual([
      { outcome: 'closed' },
    ]);
    const seal = async () => (await command('status --json')).json().installations[0].seal;
    expect(await seal()).toMatchObject({ n: 0, unsealed: 1 });
    expect((await command('status')).stdout).toMatch(/seals +none yet; 1 link of the chains is not sealed/);
    await close();
    expect(await seal()).toMatchObject({ n: 1, seq: 1, unsealed: 0 });
  });
});

const badKeys: [string, string][] = [
  ['a public key', keys.public],
  ['another kind of key', String(generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))],
  ['no key', 'secret'],
];
test.each(badKeys)('%s as seal_key is refused at start, and not repeated', async (_, key) => {
  const ran = await command('ledger verify --json', { VETLEDGER_SEAL_KEY: key });
  expect(ran).toMatchObject({ code: 2 });
  expect(ran.json().error).toMatchObject({ code: 'seal_key_unusable', todo: expect.stringContaining('openssl') });
  expect(ran.stdout + ran.stderr).not.toContain(key.split('\n')[1] ?? key);
});

test('a private key in place of the public one is refused, and a key with written-out line ends is read', async () => {
  writeFileSync(`${folder}/private.pem`, keys.secret);
  expect(await command('ledger verify --public-key @private.pem')).toMatchObject({ code: 2 });
  expect(await command('ledger verify', { VETLEDGER_SEAL_KEY: keys.secret.replaceAll('\n', '\\n') })).toMatchObject({
    code: 0,
  });
});
