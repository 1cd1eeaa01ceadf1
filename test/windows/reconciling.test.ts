// Turns of many installations over some days on a simulated clock, with two daemons of one database and a source that
// answers at once.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { ErpConfig } from '../../src/config/erp.ts';
import { type Config, type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import { LeaseBusy, releaseLease, takeLease } from '../../src/db/lease.ts';
import { type Db, poolState } from '../../src/db/pool.ts';
import type { DaySpan } from '../../src/domain/daily-turn.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { ErpError } from '../../src/erp/port.ts';
import { priorities } from '../../src/practice/budget.ts';
import type { App } from '../../src/runtime/app.ts';
import type { Engine } from '../../src/runtime/worker.ts';
import { setPaused } from '../../src/sync/pauses.ts';
import { askedWindows } from '../../src/windows/asked-windows.ts';
import { Reconciler } from '../../src/windows/reconciling.ts';
import { folderOf } from '../cli/support.ts';
import { capabilitiesOf } from '../erp/capabilities.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';

const { db, truncate, openPool } = useDatabase();
const other = openPool({ max: 4 });
const signal = new AbortController().signal;
const hourMs = 3_600_000;
let one: InstallationConfig;
let config: Config;
let now: Date;
let said: { level: string; installation: number; line: string }[];
/** The requests by installation, time and daemon. */
let asked: { installation: number; at: Date; daemon: string }[];
/** The installations with a request under way. */
let underWay: number[];
let atOnce: number[];
let failure: () => Error | null;

beforeAll(async () => {
  const folder = folderOf({ 'vetledger.yaml': demoConfig([{ id: 1, base_url: 'http://127.0.0.1:1' }]) });
  config = await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 't' });
  [one] = config.installations as [InstallationConfig];
});

beforeEach(async () => {
  await truncate();
  [said, asked, underWay, atOnce, failure] = [[], [], [], [], () => null];
  now = new Date('2026-02-10T12:00:00Z');
  erpFailure = null;
});

interface Clinic {
  id: number;
  timezone?: string;
  erp?: ErpConfig;
}

const tryton: ErpConfig = {
  kind: 'tryton',
  ...{ url: 'http://127.0.0.1:9', database: 'books', company: null, user: 'api', password: 'x', timeoutSeconds: 60 },
  ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, from: null, auto: true },
};

/** An ERP without entries that fails if `erpFailure` is set. */
const erp = {
  capabilities: capabilitiesOf(),
  company: { kind: 'tryton', url: 'http://127.0.0.1:9', id: 'books/1' },
  read: async () => [],
  keyed: async () => {
    if (erpFailure !== null) throw erpFailure;
    return { entries: [], next: null, isComplete: true };
  },
  books: { balances: async () => ({ entries: 0, balances: new Map() }), entries: async function* () {} },
};
let erpFailure: ErpError | null;

/** A daemon for these installations. */
const daemon = (...given: Parameters<typeof appOf>) => new Reconciler(appOf(...given));

function appOf(clinics: readonly Clinic[], { name = 'a', pool = db as Db, span = [1, 5] } = {}): App {
  const [from, to] = span as [number, number];
  const between: DaySpan = { fromMinute: from * 60, toMinute: to * 60 };
  const tell = (level: string) => (fields: { installation: number }, line: string) =>
    said.push({ level, installation: fields.installation, line });
  const practice = (installation: number) => ({
    forWindow: () => ({
      list: async (kind: string, _filters: object, _size: number | null, options: { priority?: number }) => {
        expect(options.priority).toBe(priorities.scrub);
        const error = failure();
        if (error !== null) throw error;
        if (kind === 'invoice') asked.push({ installation, at: now, daemon: name });
        underWay.push(installation);
        atOnce.push(underWay.filter((id) => id === installation).length);
        await new Promise((resolve) => setImmediate(resolve));
        underWay.splice(underWay.indexOf(installation), 1);
        return { count: 0, results: [] };
      },
    }),
  });
  const app = {
    config: {
      ...config,
      reconcileBetween: between,
      installations: clinics.map((clinic) => ({ ...one, timezone: 'Europe/Helsinki', ...clinic })),
    },
    delivery: { target: () => erp },
    ...{ db: pool, promptDb: pool, databaseId: 'd', clock: () => now, practice, outages: { of: () => null } },
    log: { debug: () => undefined, info: tell('info'), warn: tell('warn'), error: tell('error') },
  };
  return app as unknown as App;
}

/** Closes a window of the installation, so that its first load is over. */
const loaded = (installation: number) =>
  query(
    db,
    `insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id, opened_at)
     values (?, 'window', 'schedule', '2026-02-01T00:00:00Z', 'closed', 'w', gen_random_uuid()::text, '2026-02-01T00:00:00Z')`,
    [installation],
  );

const dayIn = (timezone: string, at: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(at);
const hourIn = (timezone: string, at: Date) => {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
  const [hour, minute] = clock.format(at).split(':').map(Number);
  return hour! + minute! / 60;
};

test.each([
  ['in winter', '2026-02-10T12:00:00Z', [1, 5]],
  ['over midnight', '2026-02-10T12:00:00Z', [22, 3]],
  ['when the clocks go forward', '2026-03-28T12:00:00Z', [1, 5]],
  ['when they go back', '2026-10-24T12:00:00Z', [1, 5]],
  ['when they go forward, over midnight', '2026-03-28T12:00:00Z', [22, 4]],
])(
  'each installation has one turn a day, within the span, whichever of two daemons takes it: %s',
  async (_, begin, span) => {
    const clinics = ['Europe/Helsinki', 'America/New_York', 'Australia/Sydney'].map((timezone, n) => ({
      ...{ id: 50 + n, timezone },
    }));
    for (const { id } of clinics) await loaded(id);
    now = new Date(begin);
    const daemons = [daemon(clinics, { span }), daemon(clinics, { span, name: 'b', pool: other })];
    // A turn that was missed today is taken at once.
    await Promise.all(daemons.map((each) => each.look(signal)));
    expect(asked.map(({ installation }) => installation).toSorted()).toEqual([50, 51, 52]);
    asked = [];
    // The night in which the clocks change, and the one after it.
    const days = 2;
    for (let step = 0; step < days * 48; step++) {
      now = new Date(now.getTime() + hourMs / 2);
      await Promise.all(daemons.map((each) => each.look(signal)));
    }
    expect(Math.max(...atOnce)).toBe(1);
    const [from, to] = span as [number, number];
    for (const { id, timezone } of clinics) {
      const turns = asked.filter(({ installation }) => installation === id);
      expect(turns, `installation ${id}`).toHaveLength(days);
      // A turn after midnight belongs to the day before.
      const days_ = turns.map(({ at }) => dayIn(timezone, new Date(at.getTime() - (from > to ? to * hourMs : 0))));
      expect(new Set(days_).size).toBe(days);
      for (const { at } of turns) {
        // The daemon looks for turns every half an hour.
        const hour = hourIn(timezone, new Date(at.getTime() - hourMs / 2));
        const late = hourIn(timezone, at);
        const isWithin = (told: number) => (from < to ? told >= from && told <= to : told >= from || told <= to);
        expect(isWithin(hour) || isWithin(late), `${at.toISOString()} of ${id}`).toBe(true);
      }
    }
  },
);

test('days without a daemon are made up for once, the installation that waits longest first', async () => {
  const clinics = [{ id: 60 }, { id: 61 }, { id: 62 }];
  for (const { id } of clinics) await loaded(id);
  const reconciler = daemon(clinics);
  await reconciler.look(signal);
  const first = asked.map(({ installation }) => installation);
  asked = [];
  now = new Date(now.getTime() + 100 * hourMs);
  await reconciler.look(signal);
  await reconciler.look(signal);
  expect(asked.map(({ installation }) => installation)).toEqual(first);
});

test('a paused installation, and one in its first load, are put off, which the log says once a day', async () => {
  await loaded(70);
  await setPaused(db, 70, true, { actedBy: 'Bo', reason: 'upgrade' });
  const reconciler = daemon([{ id: 70 }, { id: 71 }]);
  await reconciler.look(signal);
  await reconciler.look(signal);
  expect(asked).toEqual([]);
  expect(said.toSorted((a, b) => a.installation - b.installation)).toEqual([
    { level: 'warn', installation: 70, line: expect.stringMatching(/^not reconciled: its windows are paused/) },
    { level: 'warn', installation: 71, line: expect.stringMatching(/^not reconciled: its first load is not complete/) },
  ]);
  await setPaused(db, 70, false, { actedBy: 'Bo', reason: 'done' });
  await loaded(71);
  await reconciler.look(signal);
  expect(asked.map(({ installation }) => installation).toSorted()).toEqual([70, 71]);
});

test('one that fails is named with its remedy and keeps no other from its turn; an unreachable source is no failure', async () => {
  for (const id of [80, 81]) await loaded(id);
  const reconciler = daemon([{ id: 80 }, { id: 81 }]);
  failure = () => new Error('out of order');
  await reconciler.look(signal);
  expect(said.map(({ level, installation }) => `${level} ${installation}`).toSorted()).toEqual([
    'error 80',
    'error 81',
  ]);
  const states = () => query(db, `select is_done, error->>'code' as code from reconcile_turn`);
  expect(await states()).toEqual([
    { is_done: false, code: 'internal_error' },
    { is_done: false, code: 'internal_error' },
  ]);
  // The reconciliation is not repeated within an hour.
  failure = () => null;
  await reconciler.look(signal);
  expect(asked).toEqual([]);
  await query(db, `update reconcile_turn set not_before = not_before - interval '1 hour'`);
  failure = () => new PracticeError('unreachable', 'no answer');
  await reconciler.look(signal);
  expect(await states()).toEqual([
    { is_done: true, code: null },
    { is_done: true, code: null },
  ]);
});

test('the ERP’s books are read back, too; where they cannot be, the books of ours have their verdict all the same', async () => {
  await loaded(85);
  await query(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, erp_id)
     values (85, '85/invoice/7/1', 'entry', 1, '2026-02-01', 'KEY', 'company', 'delivered', '11')`,
  );
  // The outbox has an entry that the journal lacks, so the chain is broken.
  const reconciler = daemon([{ id: 85, erp: tryton }]);
  erpFailure = new ErpError('refused', 'the API user may not read');
  await reconciler.look(signal);
  const found = () =>
    query(
      db,
      `select ok, failing, is_done, error->>'code' as code from reconcile_verdict join reconcile_turn using (installation)`,
    );
  expect(await found()).toEqual([{ ok: false, failing: ['chain'], is_done: false, code: 'erp_unreadable' }]);
  erpFailure = null;
  await query(db, `update reconcile_turn set not_before = not_before - interval '1 hour'`);
  await reconciler.look(signal);
  expect(await found()).toEqual([{ ok: false, failing: ['E7', 'chain'], is_done: true, code: null }]);
  expect(said.at(-1)).toEqual({
    level: 'error',
    installation: 85,
    line: expect.stringMatching(/^NOT reconciled \(E7, chain\)/),
  });
});

test('a daemon that ends breaks its turn off, and the next one takes it at once', async () => {
  await loaded(90);
  const stop = new AbortController();
  failure = () => {
    stop.abort();
    return new Error('the connection was closed');
  };
  await daemon([{ id: 90 }]).look(stop.signal);
  expect(await query(db, 'select attempts, is_done from reconcile_turn')).toEqual([{ attempts: 0, is_done: false }]);
  failure = () => null;
  await daemon([{ id: 90 }], { name: 'b', pool: other }).look(signal);
  expect(asked.map(({ daemon: by }) => by)).toEqual(['b']);
});

test.each([2, 4, 6, 8, 11, 15, 20, 25, 30, 35, 40, 50])(
  'wherever a daemon ends, the next one takes the turn at once: at statement %i',
  async (n) => {
    await loaded(95);
    const stop = new AbortController();
    let statements = 0;
    const count = () => {
      statements += 1;
      if (statements === n) stop.abort();
    };
    db.on('query', count);
    await daemon([{ id: 95 }]).look(stop.signal);
    db.off('query', count);
    await daemon([{ id: 95 }], { name: 'b', pool: other }).look(signal);
    expect(await query(db, 'select attempts, is_done, error from reconcile_turn')).toEqual([
      { attempts: 1, is_done: true, error: null },
    ]);
    expect(await query(db, 'select ok from reconcile_verdict')).toEqual([{ ok: true }]);
    expect(poolState(db).used).toBe(0);
  },
);

test('an asked reconciliation gives its result, but not beside another one', async () => {
  await loaded(1);
  const app = appOf([{ id: 1 }]);
  const { reconcile } = askedWindows(app, {} as Engine, signal);
  const [installation] = app.config.installations;
  expect(await reconcile(installation!, signal)).toEqual({ failing: [], complete: true });
  const lease = await takeLease(db, { installation: 1, lane: 'reconcile' }, 'another daemon');
  await expect(reconcile(installation!, signal)).rejects.toThrow(LeaseBusy);
  await releaseLease(db, lease!);
});
