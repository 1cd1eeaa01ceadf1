import { once } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { execute } from '../../src/db/rows.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { ErpError, type ErpTarget } from '../../src/erp/port.ts';
import { booksWaitMs, reconcileWithErp } from '../../src/queries/reconcile-erp.ts';
import type { InstallationReport } from '../../src/reconcile/reconcile-report.ts';
import { capabilitiesOf } from '../erp/capabilities.ts';
import { mappingOf } from '../posting/support.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
const erp = {
  ...{ kind: 'tryton', url: 'http://127.0.0.1:9', database: 'books', company: null, user: 'api', password: 'x' },
  ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60, from: null, auto: true },
} as const;
const mapping = mappingOf({});
const report = (installation: number) =>
  ({
    installation,
    ...{ ok: true, complete: true },
    equations: { E1: { ok: true, difference: '0.00', documents: [] } },
  }) as unknown as InstallationReport;
const installation = (id: number, changes: object = {}) =>
  ({ id, decimals: 2, mapping, erp, ...changes }) as unknown as InstallationConfig;

/** A third of the duration of a lease. */
const renewedEveryMs = 30_000;

/** Sleeps end at once and are recorded. The sleep of a lease lasts as long as the work of its holder. */
let slept: number[] = [];
let onSleep: () => Promise<unknown> = async () => undefined;
const clock: Clock = {
  ...{ now: () => 0, elapsed: () => slept.reduce((sum, ms) => sum + ms, 0) },
  sleep: async (ms, signal) => {
    if (ms === renewedEveryMs) return void (await once(signal!, 'abort'));
    slept.push(ms);
    await onSleep();
  },
};
beforeEach(() => {
  slept = [];
  onSleep = async () => undefined;
});

let targets = 0;
function target({ failures = [], held }: Course): ErpTarget {
  return {
    capabilities: capabilitiesOf(),
    // Each has a different company, because the process limits parallel requests per company, and these represent
    // several processes.
    company: { kind: 'tryton', url: 'http://127.0.0.1:9', id: `books/${++targets}` },
    read: async () => [],
    keyed: async () => ({ entries: [], next: null, isComplete: true }),
    books: {
      balances: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        await held?.reached();
        return { entries: 0, balances: new Map() };
      },
      entries: async function* () {},
    },
  } as unknown as ErpTarget;
}

/** The course of reading an ERP's books. */
interface Course {
  failures?: ErpError[];
  held?: Hold;
}

/** A point at which a reading pauses until the test releases it. */
class Hold {
  readonly #reached = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  readonly isReached = this.#reached.promise;

  reached(): Promise<void> {
    this.#reached.resolve();
    return this.#gone.promise;
  }

  letGo(): void {
    this.#gone.resolve();
  }
}

let waits = 0;
function run(course: Course, installations = [installation(1)]) {
  return reconcileWithErp(
    { db, databaseId: 'test', delivery: { target: () => target(course) }, clock },
    { ok: true, complete: true, installations: installations.map(({ id }) => report(id)) },
    installations,
    {
      ...{ full: false, signal: new AbortController().signal, onProgress: () => undefined },
      onWaiting: () => void waits++,
    },
  );
}

function deliver(id: number) {
  return execute(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, erp_id)
     values (?, ?, 'entry', 1, '2026-02-01', ?, 'company', 'delivered', '11')`,
    [id, `${id}/invoice/7/1`, `KEY ${id}`],
  );
}

/** The number of completed readings, from the row on which the next one builds. */
async function readings(id: number): Promise<number> {
  const [found] = await query<{ run: number }>(
    db,
    'select coalesce(max(run), 0)::int as run from erp_books_reading where installation = ?',
    [id],
  );
  return found!.run;
}

const locked = () => new ErpError('locked', 'the company is locked');

test('E7 is checked if the ERP’s books can be read, and its failure fails the whole', async () => {
  await deliver(1);
  const both = [installation(1), installation(2, { erp: { kind: 'ledger' } })];
  const { ok, installations } = await run({}, both);
  expect(ok).toBe(false);
  expect(installations.map(({ ok: each, equations }) => [each, Object.keys(equations)])).toEqual([
    [false, ['E1', 'E7']],
    [true, ['E1']],
  ]);
  expect(installations[0]!.equations.E7).toMatchObject({ ok: false, documents: [{ document: 'invoice 7' }] });
});

test('what is refused or not delivered makes the books not complete, and is counted by state', async () => {
  const unit = (n: number, state: string, code: string | null = null) =>
    execute(
      db,
      `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, problem_code)
       values (8, ?, 'entry', ?, '2026-02-01', ?, 'company', ?, ?)`,
      [`8/invoice/${n}/1`, n, `KEY 8 ${n}`, state, code],
    );
  await unit(1, 'cancelled_out');
  await unit(2, 'excluded');
  expect(await run({}, [installation(8)])).toMatchObject({ complete: true, installations: [{ not_in_erp: {} }] });
  await unit(3, 'refused', 'period_closed_in_erp');
  await unit(4, 'pending');
  const files = installation(8, { erp: { kind: 'csv', folder: '/tmp', from: null, auto: true } });
  for (const each of [installation(8), files]) {
    expect(await run({}, [each])).toMatchObject({
      ok: true,
      complete: false,
      installations: [{ complete: false, not_in_erp: { refused: 1, pending: 1 } }],
    });
  }
});

test('an ERP that a delivery locks is asked again; one that cannot be read ends the command', async () => {
  await run({ failures: [locked(), locked()] });
  expect(slept).toHaveLength(2);
  await expect(run({ failures: Array.from({ length: 9 }, locked) })).rejects.toMatchObject({
    code: 'erp_unreadable',
    exitCode: 3,
  });
  await expect(run({ failures: [new ErpError('auth', 'wrong password')] })).rejects.toMatchObject({
    code: 'erp_unreadable',
  });
});

test('a second reading of the same books waits for the first, and counts on from it', async () => {
  await deliver(3);
  const held = new Hold();
  const first = run({ held }, [installation(3)]);
  await held.isReached;
  onSleep = () => {
    held.letGo();
    return first;
  };
  const before = waits;
  await run({}, [installation(3)]);
  expect(waits - before).toBe(1);
  expect(await readings(3)).toBe(2);
});

test('a reading whose books another one goes on reading ends plainly after a bounded wait; other books are read meanwhile', async () => {
  await deliver(4);
  const held = new Hold();
  const first = run({ held }, [installation(4)]);
  await held.isReached;
  await expect(run({}, [installation(5)])).resolves.toMatchObject({ ok: true });
  await expect(run({}, [installation(4)])).rejects.toMatchObject({ code: 'erp_books_busy', exitCode: 4 });
  expect(clock.elapsed()).toBe(booksWaitMs);
  held.letGo();
  await first;
  expect(await readings(4)).toBe(1);
  await run({}, [installation(4)]);
  expect(await readings(4)).toBe(2);
});

test('a reading takes the place of one whose process was killed; one that only stood still writes nothing any more', async () => {
  await deliver(6);
  const held = new Hold();
  const first = run({ held }, [installation(6)]);
  await held.isReached;
  onSleep = () =>
    execute(db, `update lease set expires_at = clock_timestamp() where installation = 6 and lane = 'books'`);
  await run({}, [installation(6)]);
  held.letGo();
  await expect(first).rejects.toMatchObject({ code: 'erp_books_taken_over', exitCode: 4 });
  expect(await readings(6)).toBe(1);
});

test('a reading that fails gives the next one its turn', async () => {
  await deliver(7);
  await expect(run({ failures: [new ErpError('auth', 'no')] }, [installation(7)])).rejects.toThrow(/could not be read/);
  const before = waits;
  await run({}, [installation(7)]);
  expect(waits).toBe(before);
});
