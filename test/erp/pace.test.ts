import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import type { Capabilities } from '../../src/erp/capabilities.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import { erpPriorities, Pace, PaceExceeded } from '../../src/erp/erp-pace.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { ErpError, type RequestOptions } from '../../src/erp/port.ts';
import { loadUnits } from '../../src/ledger/general-ledger.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { capabilitiesWith } from './capabilities.ts';
import { payment } from './drafts.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { databaseId, runSlice, translated } from './slices.ts';

const { db, url, openPool, truncate } = useDatabase();
let companies = 0;
let company = '';
beforeEach(() => {
  companies += 1;
  company = `company ${companies}`;
});

const unlimited: Capabilities['pace'] = { in_flight_per_company: 1, limits: [], errors_allowed: null };
const limited = (n: number, perSeconds: number, weight = 1): Capabilities['pace'] => ({
  ...unlimited,
  limits: [{ n, per_seconds: perSeconds, weight }],
});
const paceOf = (pace: Capabilities['pace'], process: Db = db) =>
  new Pace({ db: process, clock: systemClock }, company, { capabilities: { pace } });
const request = (priority = 5, signal = new AbortController().signal) => ({ priority, signal });
const done = async ({ sent }: RequestOptions) => {
  sent?.();
  return 'done';
};

/** Requests that the test answers when it chooses. */
function held() {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    started,
    send: (name: string) => () => {
      started.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return end.promise;
    },
    end: (name: string) => ends.get(name)?.resolve(),
  };
}

const turns = async () => {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setTimeout(resolve, 1));
};

describe('requests in a process', () => {
  it('are limited to the number that the company allows in flight', async () => {
    const pace = paceOf({ ...unlimited, in_flight_per_company: 2 });
    const { started, send, end } = held();
    const all = ['a', 'b', 'c'].map((name) => pace.run(request(), send(name)));
    await turns();
    expect(started).toEqual(['a', 'b']);
    end('a');
    await turns();
    expect(started).toEqual(['a', 'b', 'c']);
    end('b');
    end('c');
    await Promise.all(all);
  });

  it('wait in the order of their priorities', async () => {
    const { started, send, end } = held();
    const all = [
      paceOf(unlimited).run(request(6), send('first')),
      paceOf(unlimited).run(request(6), send('backlog')),
      paceOf(unlimited).run(request(4), send('live')),
    ];
    await turns();
    end('first');
    await turns();
    expect(started).toEqual(['first', 'live']);
    end('live');
    await turns();
    end('backlog');
    await Promise.all(all);
  });

  it('leave the queue when their activity is cancelled', async () => {
    const pace = paceOf(unlimited);
    const { started, send, end } = held();
    const first = pace.run(request(), send('first'));
    const cancelled = new AbortController();
    const second = pace.run(request(5, cancelled.signal), send('cancelled'));
    const third = pace.run(request(), send('third'));
    await turns();
    cancelled.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    await expect(pace.run(request(5, cancelled.signal), send('too late'))).rejects.toThrow('cancelled');
    end('first');
    await first;
    await turns();
    expect(started).toEqual(['first', 'third']);
    end('third');
    await third;
    expect(pace.waiting).toBe(0);
  });
});

describe('a limit', () => {
  const spend = async (pace: Pace, n: number) => {
    for (let sent = 0; sent < n; sent++) await pace.run(request(), done);
  };

  it('counts a request from its answer on, since the ERP may count it that late', async () => {
    const answered = await paceOf(limited(5, 60)).run(request(), async () => {
      await query(db, 'select pg_sleep(0.05)');
      return query<{ at: string }>(db, 'select clock_timestamp()::text as at');
    });
    const [{ is_later: isLater } = { is_later: false }] = await query<{ is_later: boolean }>(
      db,
      'select sent_at >= ?::timestamptz as is_later from erp_request where company = ?',
      [answered[0]!.at, company],
    );
    expect(isLater).toBe(true);
  });
  const pass = (seconds: number) =>
    execute(db, 'update erp_request set sent_at = sent_at - make_interval(secs => ?) where company = ?', [
      seconds,
      company,
    ]);

  it('of a day that is used up counts for every process, also after a restart', async () => {
    await spend(paceOf(limited(3, 86_400)), 3);
    for (const process of [db, openPool({ max: 2 })]) {
      const exceeded = await paceOf(limited(3, 86_400), process)
        .run(request(), done)
        .catch((error: unknown) => error);
      expect(exceeded).toBeInstanceOf(PaceExceeded);
      const { means, problem, retryAfterMs } = exceeded as PaceExceeded;
      expect({ means, problem }).toEqual({ means: 'unsent', problem: 'erp_limit_spent' });
      expect(retryAfterMs).toBeGreaterThan(86_000_000);
    }
    await pass(86_400);
    expect(await paceOf(limited(3, 86_400)).run(request(), done)).toBe('done');
  });

  it('of a day leaves half to requests other than reading back; a shorter limit does not', async () => {
    const pace = paceOf(limited(6, 86_400));
    await spend(pace, 2);
    expect(await pace.run(request(erpPriorities.books), done)).toBe('done');
    await expect(pace.run(request(erpPriorities.books), done)).rejects.toThrow(PaceExceeded);
    await spend(pace, 3);
    await expect(pace.run(request(), done)).rejects.toThrow(PaceExceeded);
    company = `${company}, shorter`;
    const shorter = paceOf(limited(6, 600));
    for (let sent = 0; sent < 6; sent++) await shorter.run(request(erpPriorities.books), done);
    await expect(shorter.run(request(erpPriorities.books), done)).rejects.toThrow(PaceExceeded);
  });

  it('of a day leaves a tenth of it to look-ups; a shorter limit does not', async () => {
    const pace = paceOf(limited(10, 86_400));
    for (let sent = 0; sent < 9; sent++) await pace.write(request(), done);
    await expect(pace.write(request(), done)).rejects.toThrow(PaceExceeded);
    expect(await pace.run(request(), done)).toBe('done');
    company = `${company}, shorter`;
    const shorter = paceOf(limited(10, 600));
    for (let sent = 0; sent < 10; sent++) await shorter.write(request(), done);
    await expect(shorter.write(request(), done)).rejects.toThrow(PaceExceeded);
  });

  describe('of which the ERP states what is left', () => {
    const stating = (pace: Capabilities['pace'], ...left: [perSeconds: number, left: number][][]) => {
      const limitsLeft = () => (left.shift() ?? []).map(([perSeconds, n]) => ({ perSeconds, left: n }));
      return new Pace({ db, clock: systemClock }, company, { capabilities: { pace }, limitsLeft });
    };
    const both = { ...unlimited, limits: [...limited(10, 60).limits, ...limited(100, 86_400).limits] };

    it.each<[name: string, pace: Capabilities['pace'], left: [number, number][][], more: number]>([
      ['less than we counted wins', limited(10, 600), [[[600, 2]]], 2],
      ['more than we counted changes nothing', limited(10, 600), [[[600, 50]]], 9],
      ['nothing stops at once', limited(10, 600), [[[600, 0]]], 0],
      ['the last answer counts', limited(10, 600), [[[600, 1]], [[600, 7]]], 8],
      ['weights are taken into account', limited(100, 600, 10), [[[600, 29]]], 2],
      [
        'of the minute, little is left',
        both,
        [
          [
            [60, 3],
            [86_400, 99],
          ],
        ],
        3,
      ],
      [
        'of the day, little is left; the minute has its own count',
        both,
        [
          [
            [60, 9],
            [86_400, 4],
          ],
        ],
        4,
      ],
      ['a limit that the record lacks', limited(10, 600), [[[60, 0]]], 9],
    ])('%s', async (_, pace, left, more) => {
      const stated = stating(pace, ...left);
      await spend(stated, 1 + more);
      await expect(stated.run(request(), done)).rejects.toThrow(PaceExceeded);
    });

    it('a tenth of the day is left to look-ups', async () => {
      const pace = stating(limited(20, 86_400), [[86_400, 4]]);
      await spend(pace, 1);
      for (let sent = 0; sent < 2; sent++) await pace.write(request(), done);
      await expect(pace.write(request(), done)).rejects.toThrow(PaceExceeded);
      await spend(pace, 2);
      await expect(pace.run(request(), done)).rejects.toThrow(PaceExceeded);
      await pass(86_400);
      await pace.write(request(), done);
    });
  });

  it('that allows a request soon lets it wait', async () => {
    const pace = paceOf(limited(1, 0.3));
    const before = performance.now();
    await spend(pace, 2);
    expect(performance.now() - before).toBeGreaterThan(250);
  });

  it('counts weights', async () => {
    const pace = paceOf(limited(10, 600, 5));
    await spend(pace, 2);
    await expect(pace.run(request(), done)).rejects.toThrow(PaceExceeded);
  });

  it('is rolling: older requests neither count nor stay stored', async () => {
    const pace = paceOf(limited(3, 600));
    await spend(pace, 2);
    await pass(590);
    await spend(pace, 1);
    await expect(pace.run(request(), done)).rejects.toThrow(PaceExceeded);
    await pass(20);
    await spend(pace, 2);
    await pass(700);
    await spend(pace, 3);
    const [{ n }] = (await query<{ n: number }>(db, 'select count(*)::int as n from erp_request where company = ?', [
      company,
    ])) as [{ n: number }];
    expect(n).toBeLessThanOrEqual(3);
  });

  it('holds for concurrent requests', async () => {
    const results = await Promise.allSettled(
      [db, openPool({ max: 4 })].flatMap((process) => {
        const pace = paceOf({ ...limited(5, 600), in_flight_per_company: 4 }, process);
        return Array.from({ length: 6 }, () => pace.run(request(), done));
      }),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('of errors stops before the one that would block the user', async () => {
    const pace = paceOf({ ...unlimited, errors_allowed: { n: 3, per_seconds: 3_600 } });
    const refuse = async () => {
      throw new ErpError('refused', 'no');
    };
    const fail = async () => {
      throw new ErpError('unsent', 'connect ECONNREFUSED');
    };
    await spend(pace, 20);
    // A request without an answer does not count as an error.
    for (let n = 0; n < 3; n++) await expect(pace.run(request(), fail)).rejects.toThrow('ECONNREFUSED');
    for (let n = 0; n < 2; n++) await expect(pace.run(request(), refuse)).rejects.toThrow('no');
    const exceeded = await pace.run(request(), done).catch((error: unknown) => error);
    expect(exceeded).toMatchObject({ problem: 'erp_errors_spent' });
    await pass(3_600);
    expect(await pace.run(request(), done)).toBe('done');
  });

  it('counts the requests that a call has sent, also none', async () => {
    const pace = paceOf(limited(10, 600));
    const sending = (n: number) => async (counted: RequestOptions) => {
      for (let sent = 0; sent < n; sent++) counted.sent?.();
    };
    for (const n of [0, 4, 0, 5]) await pace.run(request(), sending(n));
    await pace.run(request(), sending(1));
    await expect(pace.run(request(), sending(0))).rejects.toThrow(PaceExceeded);
  });

  it('that does not exist costs no statement', async () => {
    await spend(paceOf(unlimited), 2);
    expect(await query(db, 'select from erp_request where company = ?', [company])).toEqual([]);
  });
});

it('near a limit per day, a batch waits until its look-ups and writes fit', async () => {
  await truncate();
  const perDay = 20;
  const target = new ScriptedTarget(capabilitiesWith({ pace: limited(perDay, 86_400) }));
  const ids = await db.transaction((trx) =>
    appendEntries(trx, 1, [payment(1), payment(2)], { decimals: 2, windowId: null }),
  );
  const of = companyKey(target.company);
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation: 1, databaseId, company: of, from: null, auto: true }),
  );
  // The limit is used up, and one request an hour becomes free.
  await execute(
    db,
    `insert into erp_request (company, weight, sent_at)
     select ?, 1, clock_timestamp() - make_interval(hours => 23 - n) from generate_series(0, ?) n`,
    [of, perDay - 1],
  );
  let hours = 0;
  for (; hours < 24 && target.posted.length < ids.length; hours++) {
    await execute(db, `update erp_request set sent_at = sent_at - interval '1 hour'`);
    await execute(db, `update erp_company set not_before = not_before - interval '1 hour'`);
    const before = target.sent.length + target.looks;
    const { waitingFor } = await runSlice(db, target);
    if (target.posted.length > 0) break;
    expect(waitingFor).toMatchObject({ code: 'erp_limit_spent' });
    expect(target.sent.length + target.looks).toBe(before);
  }
  expect(target.posted).toEqual(ids.map((id) => entryKey(databaseId, id)));
  expect(hours).toBeLessThan(18);
});

it('a process that is killed during a request leaves its count, and its units to look up', async () => {
  await truncate();
  const pace = limited(4, 86_400);
  const target = new ScriptedTarget(capabilitiesWith({ doubt: { server_may_work_seconds: 0 }, pace }));
  const drafts = [payment(1), payment(2)];
  const ids = await db.transaction((trx) => appendEntries(trx, 1, drafts, { decimals: 2, windowId: null }));
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation: 1, databaseId, company: companyKey(target.company), from: null, auto: true }),
  );
  const loaded = await loadUnits(
    db,
    ids.map((id) => ({ kind: 'entry', id })),
  );
  const entries = loaded.flatMap((unit) => {
    const found = translated(unit);
    return 'entry' in found ? found.entry : [];
  });

  // The ERP receives the entries, but its answer does not arrive.
  const arrived = Promise.withResolvers<string[]>();
  const server = createServer(async (incoming) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    arrived.resolve(JSON.parse(Buffer.concat(chunks).toString()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const erpUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const script = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, url, erpUrl, JSON.stringify(pace)], { stdio: 'inherit' });
  try {
    const keys = await arrived.promise;
    expect(keys).toEqual(entries.map(({ key }) => key));
    await target.create(entries, { ...request(), attemptId: 'of the killed process' });
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  } finally {
    child.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
  }

  // The process holds the lease until it expires. Its three requests (entries with our keys, periods, create) are
  // counted.
  expect(await runSlice(db, target, { longestMs: 300 })).toMatchObject({ delivered: 0, uncertain: 2 });
  await execute(db, `update lease set expires_at = clock_timestamp()`);
  const resumed = await runSlice(db, target);
  expect(resumed).toMatchObject({ waitingFor: { code: 'erp_limit_spent' } });
  expect(resumed.nextDueMs).toBeGreaterThan(80_000_000);
  expect(target.sizes('create')).toEqual([2]);
  expect(target.posted).toEqual([]);
  const nextDay = async () => {
    await execute(db, `update erp_request set sent_at = sent_at - interval '1 day'`);
    await execute(db, `update erp_company set not_before = null`);
    return runSlice(db, target);
  };
  // Four kinds of requests exceed the limit of one day: for other databases' entries, look-ups, posting and reading
  // back.
  expect(await nextDay()).toMatchObject({ waitingFor: { code: 'erp_limit_spent' } });
  expect(await nextDay()).toMatchObject({ delivered: 2, waitingFor: null });
  expect(target.posted).toEqual(ids.map((id) => entryKey(databaseId, id)));
  expect(target.sizes('create')).toEqual([2]);
}, 60_000);
