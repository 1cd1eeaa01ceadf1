// `status` for many installations: the state of each with its reason, and its cost.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { statusText, summaryText } from '../../src/cli/commands/status-text.ts';
import { type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import type { DeliveryStatus } from '../../src/queries/delivery-status.ts';
import { type Findings, healthOf } from '../../src/queries/installation-health.ts';
import type { LaneStatus } from '../../src/queries/lanes.ts';
import { installationStatuses, statusSummary } from '../../src/queries/status.ts';
import { noteSchedule } from '../../src/sync/schedule-state.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
const now = new Date('2026-05-04T09:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

describe('the health of an installation', () => {
  const error = { code: 'practice_unreachable', message: 'the source is down', todo: 'look at it' };
  const well: Findings = {
    ...{ now, schedule: { everySeconds: 300 }, timezone: 'Europe/Helsinki', idleWindows: 0, syncedTo: ago(200) },
    ...{
      watched: null,
      refused: null,
      installation: 1,
      pause: null,
      signIn: null,
      blockedUntil: null,
      problems: 0,
      isScrubLate: false,
      isVerdictOld: false,
      verdict: {
        reconciled: { ok: true, failing: [], checked_at: ago(900) },
        complete: true,
        outside: {},
        left_as_posted: {},
        empty: false,
      },
      delivery: null,
    },
    last: { outcome: 'closed', error: null, opened_at: ago(200) },
  };
  const neverReconciled = { reconciled: null, complete: true, outside: {}, left_as_posted: {}, empty: false };
  const differing = { ...neverReconciled, reconciled: { ok: false, failing: ['E2', 'chain'], checked_at: ago(900) } };
  const watched = { installation: 1, missed: 4, skipped: 0, dropped: 0, paused: false, note: null, missedAt: null };
  const delivery = { paused: null, left: 0, refused: 0, last_error: null, unapproved: 0 } as unknown as DeliveryStatus;
  const failed = { last: { outcome: 'failed' as const, error, opened_at: ago(10) } };
  const late = { syncedTo: ago(631) };
  const tick = { installation: 1, workflow_id: 'sync-window/1-x-2026-05-04T08:59:00Z', since: ago(60) };
  const waits = (seconds: number): LaneStatus => ({
    ...{ lane: 'live', since: ago(seconds), alive: true, error: null, attempts: 0 },
    ...{ waits_for: 'an answer of the practice API (GET /1/invoice/)', waits_since: ago(seconds) },
  });

  test.each<[string, Partial<Findings>, string, boolean, string | null]>([
    ['nothing is the matter', {}, 'ok', false, null],
    ['two intervals behind, and half a minute', { syncedTo: ago(630) }, 'ok', false, null],
    ['more than that', late, 'late', true, 'no_window'],
    ['late, and no daemon is at work', { ...late, isServed: false }, 'late', true, 'no_daemon'],
    ['no daemon is at work, and it is not late', { isServed: false }, 'ok', false, null],
    ['a window that no daemon has taken', { tick }, 'waiting', false, 'tick_untaken'],
    ['its window waits for long', { live: waits(40) }, 'waiting', false, 'window_waits'],
    ['its window waits for long, and it is late', { ...late, live: waits(40) }, 'late', true, 'window_waits'],
    ['its window waits for a moment', { live: waits(10) }, 'ok', false, null],
    ['its first load waits', { syncedTo: null, last: null, live: waits(40) }, 'waiting', false, 'window_waits'],
    ['an attempt after one that failed waits', { ...failed, live: waits(40) }, 'failed', false, 'window_waits'],
    ['its window fails and tries again', { live: { ...waits(10), error, attempts: 3 } }, 'waiting', false, error.code],
    ['the process of its window is gone', { ...late, live: { ...waits(40), alive: false } }, 'late', true, 'no_window'],
    ['late beside held documents', { ...late, problems: 3 }, 'late', true, 'no_window'],
    [
      'late, and Temporal dropped ticks since',
      { ...late, watched: { ...watched, missedAt: ago(60) } },
      'late',
      true,
      'windows_missed',
    ],
    [
      'late, and Temporal dropped ticks long ago',
      { ...late, watched: { ...watched, missedAt: ago(9000) } },
      'late',
      true,
      'no_window',
    ],
    [
      'late, as its schedule is paused',
      { ...late, watched: { ...watched, paused: true, note: 'moving' } },
      'late',
      true,
      'schedule_paused',
    ],
    [
      'late, as a window takes long',
      { ...late, last: { outcome: 'open', error: null, opened_at: ago(600) } },
      'late',
      true,
      'window_long',
    ],
    ['late, as the source asked for a pause', { ...late, blockedUntil: ago(-60) }, 'late', true, 'source_throttled'],
    [
      'somebody has paused it',
      { ...late, pause: { actedBy: 'me', reason: 'moving' } },
      'paused',
      false,
      'windows_paused',
    ],
    [
      'the source does not let us in',
      { ...late, ...failed, signIn: { refusals: 3 } },
      'failed',
      true,
      'sign_in_refused',
    ],
    ['the newest window failed', failed, 'failed', false, 'practice_unreachable'],
    ['it fails for long', { ...failed, ...late, problems: 2 }, 'failed', true, 'practice_unreachable'],
    ['its books are others', { refused: { ...error, code: 'identity_changed' } }, 'failed', false, 'identity_changed'],
    ['no window yet', { syncedTo: null, last: null }, 'new', false, 'never_synced'],
    [
      'the first one is open',
      { syncedTo: null, last: { outcome: 'open', error: null, opened_at: ago(5) } },
      'new',
      false,
      'first_load',
    ],
    [
      'the steps of an open window fail',
      {
        last: { outcome: 'open', error: null, opened_at: ago(60) },
        present: { ...error, attempts: 4, since: ago(50) },
      },
      'waiting',
      false,
      'practice_unreachable',
    ],
    ['Temporal does not answer', { temporal: error }, 'waiting', false, 'practice_unreachable'],
    [
      'late, as Temporal does not answer',
      { ...late, temporal: error, problems: 2 },
      'late',
      true,
      'practice_unreachable',
    ],
    ['documents are held', { problems: 1 }, 'held', false, 'held'],
    ['the ERP refuses some', { delivery: { ...delivery, refused: 2 } }, 'held', false, 'held'],
    [
      'the delivery is paused',
      { delivery: { ...delivery, paused: { by: 'me', reason: 'r', at: now } } },
      'waiting',
      false,
      'delivery_paused',
    ],
    [
      'entries are on their way to the ERP',
      { delivery: { ...delivery, left: 9, under_way: true, waiting_since: ago(3000) } },
      'ok',
      false,
      'delivery_waits',
    ],
    [
      'entries wait since some minutes',
      { delivery: { ...delivery, left: 9, waiting_since: ago(800) } },
      'ok',
      false,
      'delivery_waits',
    ],
    [
      'entries wait for long, and nobody delivers',
      { delivery: { ...delivery, left: 9, waiting_since: ago(1000) } },
      'waiting',
      false,
      'delivery_waits',
    ],
    [
      'a delivery was killed: an error of before says nothing',
      { delivery: { ...delivery, left: 9, in_doubt: 3, last_error: { ...error, at: ago(5000) } } },
      'waiting',
      false,
      'delivery_in_doubt',
    ],
    [
      'its books never reconciled',
      { isVerdictOld: true, verdict: neverReconciled },
      'waiting',
      false,
      'never_reconciled',
    ],
    ['its books were reconciled long ago', { isVerdictOld: true }, 'waiting', false, 'reconcile_old'],
    ['its books do not reconcile', { verdict: differing }, 'held', false, 'not_reconciled'],
    ['the scrub is late', { isScrubLate: true }, 'ok', false, 'scrub_late'],
    [
      'idle, and its interval is longer',
      {
        syncedTo: ago(1500),
        idleWindows: 6,
        schedule: { everySeconds: 300, idle: { everySeconds: 900, afterWindows: 6 } },
      },
      'ok',
      false,
      null,
    ],
  ])('%s', (_case, differs, health, isLate, code) => {
    const found = healthOf({ ...well, ...differs });
    expect([found.health, found.late, found.cause?.code ?? null]).toEqual([health, isLate, code]);
  });
});

describe('of many installations', () => {
  let one: InstallationConfig;

  beforeAll(async () => {
    const folder = folderOf({ 'vetledger.yaml': demoConfig([{ id: 1, base_url: 'http://127.0.0.1:1' }]) });
    [one] = (await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 't' })).installations as [
      InstallationConfig,
    ];
  });

  beforeEach(truncate);

  const names = new Map([[2, 'Eläinklinikka Haukka']]);
  const installations = (of: number) =>
    Array.from({ length: of }, (_, n) => ({ ...one, id: n + 1, name: names.get(n + 1) ?? null }));
  const ports = { db, now, schedule: { everySeconds: 300 }, taskQueue: 'vetledger', seals: true };

  /** An installation whose window closed this long ago, with this many held documents, a budget and a delivery. */
  async function some(installation: number, lagSeconds: number, held: number): Promise<void> {
    await query(
      db,
      `insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id, opened_at)
       values (?, 'window', 'schedule', ?, 'closed', 'w', gen_random_uuid()::text, ?)`,
      [installation, ago(lagSeconds), ago(lagSeconds)],
    );
    await query(
      db,
      `insert into document (installation, kind, id, state, dirty, problem_code)
       select ?, 'invoice', n, case when n <= ? then 'held' else 'posted' end, false, case when n <= ? then 'vat_unmapped' end
       from generate_series(1, 5) n`,
      [installation, held, held],
    );
  }

  test.each([
    ['before the last window that closed', 600, null],
    ['after it', 30, { refusals: 2 }],
  ])('a sign-in that was refused %s', async (_, seconds, expected) => {
    await some(1, 60, 0);
    await query(
      db,
      `insert into sign_in (installation, mark, refusals, since, ask_again_at) values (1, 'm', 2, ?, ?)`,
      [ago(seconds), now],
    );
    const [found] = await installationStatuses(ports, installations(1));
    if (expected === null) expect(found).toMatchObject({ health: 'ok', sign_in: null });
    else expect(found).toMatchObject({ health: 'failed', sign_in: expected });
  });

  test('each has its own figures, and `status` takes as many statements for twenty as for one', async () => {
    for (let id = 1; id <= 20; id++) await some(id, id === 3 ? 5000 : 60 + id, id === 2 ? 4 : 0);
    await query(
      db,
      `insert into sync_window (installation, kind, trigger, outcome, error, workflow_id, run_id, opened_at)
       values (7, 'window', 'schedule', 'failed', '{"code":"c","message":"the source answers 500","todo":"t"}', 'w', 'f', ?)`,
      [ago(30)],
    );
    const counters = { installation: 3, missed: 2, skipped: 1, dropped: 0, paused: true, note: 'moving' };
    expect(await noteSchedule(db, 'vetledger', counters)).toBe(0);
    const statements = async (of: number) => {
      let n = 0;
      const count = () => {
        n += 1;
      };
      db.on('query', count);
      const found = await installationStatuses(ports, installations(of));
      db.off('query', count);
      return { n, found };
    };
    const { n: alone } = await statements(1);
    const { n: all, found } = await statements(20);
    expect(all).toBe(alone);
    expect(found.map(({ installation }) => installation)).toEqual(installations(20).map(({ id }) => id));
    expect(found[1]).toMatchObject({
      ...{ name: 'Eläinklinikka Haukka', health: 'held', problems: 4, lag_seconds: 62, interval_seconds: 300 },
      ...{ states: { invoices: { held: 4, posted: 1 } }, seal: { n: 0, unsealed: 0 }, schedule: null },
    });
    expect(found[2]).toMatchObject({ health: 'late', late: true, schedule: { missed: 2, skipped: 1, paused: true } });
    expect(found[6]).toMatchObject({ health: 'failed', last_window: { outcome: 'failed', error: { code: 'c' } } });
    const summary = statusSummary(found);
    expect(summary).toEqual({
      ...{ incomplete: 1, not_reconciled: 0, reconcile_old: 0 },
      ...{ installations: 20, late: 1, problems: 4, longest_lag_seconds: 5000 },
      health: { failed: 1, late: 1, waiting: 0, paused: 0, new: 0, held: 1, ok: 17 },
    });
    const lines = summaryText(summary, found).split('\n');
    expect(lines[0]).toBe(
      '20 installations: 17 ok, 1 held, 1 late, 1 failed; lag at most 83 min; 4 documents with a problem; 1 installation NOT complete',
    );
    expect(lines.slice(2, 7).map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      'installation | name | lag | health | cause',
      expect.stringMatching(/7 \| 67 s \| failed \| the source answers 500$/),
      expect.stringMatching(/3 \| 83 min \| late \| its schedule is paused: moving$/),
      expect.stringMatching(
        /2 \| Eläinklinikka Haukka \| 62 s \| held \| 4 documents held, or changed or missing after posting$/,
      ),
      expect.stringMatching(/20 \| 80 s \| ok$/),
    ]);
    expect(lines).toHaveLength(25);
    expect(statusText(found[1]!)).toMatch(/^Installation 2 \(Eläinklinikka Haukka\)\n {2}health +held: 4 documents/);
    const pausedAfterFailure = {
      ...found[6]!,
      cause: null,
      paused: { by: 'M. Virtanen', reason: 'moving', since: now, via: 'command' as const },
      last_window: { ...found[6]!.last_window!, error: { code: 'c', message: 'no connection', todo: 'wait' } },
    };
    expect(statusText(pausedAfterFailure)).toMatch(
      / {2}last window +failed.*\n {16}no connection\n {2}paused .*moving\n/,
    );
  });
});
