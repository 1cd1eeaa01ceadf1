import { describe, expect, it } from 'vitest';
import { bool, integer } from '../../src/db/columns.ts';
import { lanesAtWork } from '../../src/db/lanes-at-work.ts';
import {
  holdLease,
  type Lane,
  type Lease,
  LeaseExpired,
  LeaseLost,
  leasedTransactions,
  releaseLease,
  renewLease,
  seizeLease,
  takeLease,
} from '../../src/db/lease.ts';
import { noteStep, type StepWait } from '../../src/db/open-steps.ts';
import { execute, row } from '../../src/db/rows.ts';
import { noUse } from '../../workflows/messages.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let installation = 0;
const scope = (lane: Lane = 'live') => ({ installation, lane });
const fresh = async (lane: Lane = 'live'): Promise<Lease> => {
  installation += 1;
  return held(await takeLease(db, scope(lane), 'first'));
};
const held = (lease: Lease | null): Lease => {
  if (lease === null) throw new Error('somebody else has the lease');
  return lease;
};
const expire = () =>
  execute(db, `update lease set expires_at = clock_timestamp() where installation = ?`, [installation]);
const write = (lease: Lease) => db.transaction((trx) => holdLease(trx, lease));

/** A transaction that holds the lease until `end` is called. */
async function transactionUnderWay(lease: Lease): Promise<{ end(): Promise<void> }> {
  const begun = Promise.withResolvers<void>();
  const barrier = Promise.withResolvers<void>();
  const ended = db.transaction(async (trx) => {
    await holdLease(trx, lease);
    begun.resolve();
    await barrier.promise;
  });
  await begun.promise;
  return {
    end: () => {
      barrier.resolve();
      return ended;
    },
  };
}

/** Waits until another session of this database waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  const sql = `select count(*) > 0 as waits from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  while (!(await row(db, { waits: bool }, sql)).waits);
}

describe('a lease', () => {
  it('is one holder’s at a time in each lane; another lane is another lease', async () => {
    const lease = await fresh();
    expect(await takeLease(db, scope(), 'second')).toBeNull();
    expect(await takeLease(db, scope(), 'first')).toEqual(lease);
    expect(await takeLease(db, scope('backfill'), 'second')).toEqual({ installation, lane: 'backfill', token: 1 });
    await write(lease);
  });

  it('has a new token with each holder, and the token before writes nothing more', async () => {
    const lease = await fresh();
    await expire();
    const next = held(await takeLease(db, scope(), 'second'));
    expect(next.token).toBeGreaterThan(lease.token);
    await expect(write(lease)).rejects.toThrow(LeaseLost);
    expect(await renewLease(db, lease)).toBe(false);
    await write(next);
  });

  it('that was released stays released: neither a late renewal nor a late attempt brings it back', async () => {
    const lease = await fresh();
    await releaseLease(db, lease);
    expect(await renewLease(db, lease)).toBe(false);
    await expect(write(lease)).rejects.toThrow(LeaseLost);
    const again = held(await takeLease(db, scope(), 'first'));
    expect(again.token).toBeGreaterThan(lease.token);
  });

  it('that expired and that no other holder took is renewed, and until then nothing is written', async () => {
    const lease = await fresh();
    await expire();
    await expect(write(lease)).rejects.toThrow(LeaseExpired);
    expect(await renewLease(db, lease)).toBe(true);
    await write(lease);
  });

  it('of two who come at once for a free one, goes to one', async () => {
    await fresh();
    await expire();
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => takeLease(db, scope(), holder)));
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
  });
});

describe('while a transaction holds it, a lease', () => {
  it('is renewed, and held by further transactions', async () => {
    const lease = await fresh();
    const under = await transactionUnderWay(lease);
    expect(await renewLease(db, lease)).toBe(true);
    await write(lease);
    await under.end();
  });

  it('is not taken, although it expired', async () => {
    const lease = await fresh();
    const under = await transactionUnderWay(lease);
    await expire();
    expect(await takeLease(db, scope(), 'second')).toBeNull();
    await under.end();
    expect(await takeLease(db, scope(), 'second')).not.toBeNull();
  });

  it.each([
    ['released', (lease: Lease) => releaseLease(db, lease)],
    ['seized', () => seizeLease(db, scope(), 'second')],
  ])('is %s only after its end', async (_name, end) => {
    const lease = await fresh();
    const under = await transactionUnderWay(lease);
    const order: string[] = [];
    const ended = Promise.resolve(end(lease)).then(() => order.push('lease gone'));
    await untilSomebodyWaits();
    order.push('transaction ends');
    await under.end();
    await ended;
    expect(order).toEqual(['transaction ends', 'lease gone']);
    await expect(write(lease)).rejects.toThrow(LeaseLost);
  });
});

it('a lane’s write transactions begin with the lease, and none begins once the work is to stop', async () => {
  const lease = await fresh();
  const stop = new AbortController();
  let ended = 0;
  const transact = leasedTransactions(db, lease, { signal: stop.signal, onEnded: () => ended++ });
  const one = () => transact((trx) => row(trx, { n: integer }, 'select 1 as n'));
  expect(await one()).toEqual({ n: 1 });
  stop.abort(new Error('given up'));
  await expect(one()).rejects.toThrow('given up');
  expect(ended).toBe(1);
});

it('a write transaction that hangs is rolled back once the work is to stop, so that the lease can be released', async () => {
  const lease = await fresh();
  const stop = new AbortController();
  const transact = leasedTransactions(db, lease, { signal: stop.signal, finishWithinMs: 20 });
  const begun = Promise.withResolvers<void>();
  const hanging = transact(async (trx) => {
    await execute(trx, `update lease set holder = 'never seen' where installation = ?`, [installation]);
    begun.resolve();
    await new Promise(() => undefined);
  });
  await begun.promise;
  stop.abort(new Error('given up'));
  await expect(hanging).rejects.toThrow('given up');
  await releaseLease(db, lease);
  expect(await takeLease(db, scope(), 'second')).not.toBeNull();
});

it.each([
  ['taken after it expired', () => takeLease(db, scope(), 'second')],
  ['seized', () => seizeLease(db, scope(), 'second')],
])('what a holder waits for is not said of the next one, which has %s the lease', async (_, change) => {
  await fresh();
  const wait = { for: 'an answer', since: new Date('2026-11-23T05:00:00Z') };
  const at = {
    installation,
    step: 'pullInvoices',
    attempt: 1,
    isEnded: false,
    unexplained: 0,
    trouble: null,
    api: noUse,
  };
  const note = (activity: string, waits: StepWait | null) =>
    noteStep(db, { runId: 'first', activity }, { ...at, wait: waits });
  await note('pull', wait);
  await note('post', { ...wait, for: 'a connection' });
  await note('post', null);
  const [first] = await lanesAtWork(db, [installation]);
  const waits = { waitsFor: wait.for, waitsSince: wait.since, trouble: null };
  expect(first).toMatchObject({ holder: 'first', isAlive: true, ...waits });
  await expire();
  await change();
  const [second] = await lanesAtWork(db, [installation]);
  expect(second).toMatchObject({ holder: 'second', isAlive: true, waitsFor: null });
  expect(second?.takenAt.getTime()).toBeGreaterThan(first?.takenAt.getTime() ?? Number.NaN);
  // A note that arrives late.
  await note('pull', wait);
  expect(await lanesAtWork(db, [installation])).toEqual([second]);
});
