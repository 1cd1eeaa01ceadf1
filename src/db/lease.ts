import type { Knex } from 'knex';
import { endWithin } from '../domain/concurrency.ts';
import { leaseErrors } from '../texts/errors/database.ts';
import { bool, integer } from './columns.ts';
import { type Db, statementTimeoutMs } from './pool.ts';
import { type Connection, execute, maybeRow, row } from './rows.ts';

/**
 * A lease (table `lease`) gives one holder at a time the right to work on a lane of an installation, or to deliver to a
 * company of an ERP. The token is a fencing token: it increases with each new holder and with each release, and every
 * write transaction under the lease checks it (`holdLease`). So a former holder writes nothing any more, however long
 * its process lives. Work within one process uses `withLease` (with-lease.ts); a window's activities share one lease.
 *
 * The row lock is `for key share`: writers under one lease do not wait for each other, nor for a renewal, which changes
 * no key. Taking, seizing and releasing a lease lock its row `for update`, and so wait for running write transactions.
 */

export const lanes = [
  'live',
  'backfill',
  'replay',
  'scrub',
  'delivery',
  'books',
  'reconcile',
  'actions',
  'login',
] as const;
export type Lane = (typeof lanes)[number];

/** A lane of an installation. With `company`, the delivery or the login to that company of an ERP. */
export interface LeaseScope {
  installation: number;
  lane: Lane;
  company?: string;
}

/** Several installations may be delivered to one company, so its lease belongs to no installation. */
export function companyScope(company: string): LeaseScope & { company: string } {
  return { installation: 0, lane: 'delivery', company };
}

/** A lease as its holder knows it. */
export type Lease<Scope extends LeaseScope = LeaseScope> = Scope & { token: number };

/** Another holder has the lease now, so the former holder must stop. */
export class LeaseLost extends Error {
  readonly code: string;
  readonly todo: string;

  constructor(scope: LeaseScope) {
    const plain = scope.company === undefined ? leaseErrors.lost(scope) : leaseErrors.lostOfCompany();
    super(plain.message);
    this.code = plain.code;
    this.todo = plain.todo;
  }
}

/** Another holder has the lease, and did not release it in time. */
export class LeaseBusy extends Error {
  constructor(scope: LeaseScope) {
    super(scope.company === undefined ? leaseErrors.busy(scope) : leaseErrors.busyOfCompany);
  }
}

/** The lease expired without a renewal, and no other holder took it. After a renewal the work may continue. */
export class LeaseExpired extends Error {
  readonly code: string;
  readonly todo: string;

  constructor(scope: LeaseScope) {
    const plain = leaseErrors.expired({ ...scope, seconds: leaseSeconds(scope) });
    super(plain.message);
    this.code = plain.code;
    this.todo = plain.todo;
  }
}

/**
 * Seconds until a lease expires without renewal. A lease outlasts a few failed renewals. After a holder's process was
 * killed, others have to wait this long.
 */
export function leaseSeconds({ company }: LeaseScope): number {
  return company === undefined ? 90 : companyLeaseSeconds;
}
export const companyLeaseSeconds = 30;

const ofScope = 'installation = ? and lane = ? and company = ?';
const bindingsOf = ({ installation, lane, company }: LeaseScope) => [installation, lane, company ?? ''];

/** Takes the lease, or renews it for the same holder. Null while another holder has it, or still writes under it. */
export async function takeLease<Scope extends LeaseScope>(
  db: Connection,
  scope: Scope,
  holder: string,
): Promise<Lease<Scope> | null> {
  const again = await maybeRow(
    db,
    { token: integer },
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?) where ${ofScope} and holder = ? returning token`,
    [leaseSeconds(scope), ...bindingsOf(scope), holder],
  );
  if (again !== null) return { ...scope, token: again.token };
  return (await takeOverLease(db, scope, holder))?.lease ?? null;
}

/**
 * Takes the lease like `takeLease`. If the holder has the same name, this is the next attempt of the same work: it takes the
 * lease over at once, and the earlier attempt can no longer write. `isLeft`: the previous holder did not end cleanly.
 */
export async function takeOverLease<Scope extends LeaseScope>(
  db: Connection,
  scope: Scope,
  holder: string,
): Promise<{ lease: Lease<Scope>; isLeft: boolean } | null> {
  const seconds = leaseSeconds(scope);
  const taken = await maybeRow(
    db,
    { token: integer, isLeft: bool },
    `with free as (
       select installation, lane, company, is_in_order from lease
       where ${ofScope} and (expires_at < clock_timestamp() or holder = ?) for update skip locked
     ), taken as (
       update lease l set token = l.token + 1, holder = ?, expires_at = clock_timestamp() + make_interval(secs => ?),
         taken_at = clock_timestamp(), is_in_order = false
       from free where (l.installation, l.lane, l.company) = (free.installation, free.lane, free.company)
       returning l.token, not free.is_in_order as "isLeft"
     ), made as (
       insert into lease (installation, lane, company, token, holder, expires_at)
       values (?, ?, ?, 1, ?, clock_timestamp() + make_interval(secs => ?))
       on conflict do nothing returning token, false as "isLeft"
     )
     select token, "isLeft" from taken union all select token, "isLeft" from made`,
    [...bindingsOf(scope), holder, holder, seconds, ...bindingsOf(scope), holder, seconds],
  );
  return taken === null ? null : { lease: { ...scope, token: taken.token }, isLeft: taken.isLeft };
}

/** Takes the lease from its holder, after the holder's running write transactions have ended. */
export async function seizeLease<Scope extends LeaseScope>(
  db: Db,
  scope: Scope,
  holder: string,
): Promise<Lease<Scope>> {
  return db.transaction(async (trx) => {
    await execute(trx, `select from lease where ${ofScope} for update`, bindingsOf(scope));
    const { token } = await row(
      trx,
      { token: integer },
      `insert into lease as l (installation, lane, company, token, holder, expires_at)
       values (?, ?, ?, 1, ?, clock_timestamp() + make_interval(secs => ?))
       on conflict (installation, lane, company) do update set
         token = l.token + 1, holder = excluded.holder, expires_at = excluded.expires_at,
         taken_at = clock_timestamp(), is_in_order = false
       returning token`,
      [...bindingsOf(scope), holder, leaseSeconds(scope)],
    );
    return { ...scope, token };
  });
}

/**
 * A renewal within this time after another one writes nothing: the activities of a window renew within milliseconds of
 * each other.
 */
const renewedForSeconds = 10;

/** Renews a lease, even an expired one that no other holder took; false if it is lost. */
export async function renewLease(db: Connection, lease: Lease): Promise<boolean> {
  const seconds = leaseSeconds(lease);
  const held = await maybeRow(
    db,
    { isNew: bool },
    `select expires_at > clock_timestamp() + make_interval(secs => ?) as "isNew" from lease where ${ofScope} and token = ?`,
    [seconds - renewedForSeconds, ...bindingsOf(lease), lease.token],
  );
  if (held === null) return false;
  if (held.isNew) return true;
  const renewed = await execute(
    db,
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?) where ${ofScope} and token = ?`,
    [seconds, ...bindingsOf(lease), lease.token],
  );
  return renewed > 0;
}

/**
 * Releases a lease that is still held, after running write transactions have ended. `isInOrder`: the work ended
 * cleanly.
 */
export async function releaseLease(db: Connection, lease: Lease, { isInOrder = true } = {}): Promise<void> {
  // A new token and an empty holder keep a late renewal or a late attempt from getting the lease back.
  await execute(
    db,
    `with held as (select installation, lane, company from lease where ${ofScope} and token = ? for update)
     update lease l set expires_at = clock_timestamp(), token = l.token + 1, holder = '', is_in_order = ?
     from held where (l.installation, l.lane, l.company) = (held.installation, held.lane, held.company)`,
    [...bindingsOf(lease), lease.token, isInOrder],
  );
}

/**
 * Locks the lease's row until the end of the transaction, so that the lease cannot be taken or released before. It is
 * the first statement of every write transaction under a lease. Throws LeaseLost and LeaseExpired.
 */
export async function holdLease(trx: Connection, lease: Lease): Promise<void> {
  const held = await maybeRow(
    trx,
    { alive: bool },
    `select expires_at > clock_timestamp() as alive from lease where ${ofScope} and token = ? for key share`,
    [...bindingsOf(lease), lease.token],
  );
  if (held === null) throw new LeaseLost(lease);
  // The result of a request to an ERP is stored even after the lease expired, as long as no other holder has the
  // lease.
  if (!held.alive && lease.company === undefined) throw new LeaseExpired(lease);
}

/** Releases the lease of a holder that does not run any more, after its write transactions have ended. */
export async function freeLease(db: Connection, { installation, lane }: LeaseScope, holder: string): Promise<void> {
  const held = await maybeRow(
    db,
    { token: integer },
    'select token from lease where installation = ? and lane = ? and holder = ?',
    [installation, lane, holder],
  );
  if (held !== null) await releaseLease(db, { installation, lane, token: held.token });
}

/** Runs one write transaction under a lease. Throws LeaseLost and LeaseExpired. */
export function underLease<Result>(
  db: Db,
  lease: Lease,
  work: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (trx) => {
    await holdLease(trx, lease);
    return work(trx);
  });
}

export type Transact = <Result>(work: (trx: Knex.Transaction) => Promise<Result>) => Promise<Result>;

/** Write transactions without a lane, for a command that runs while no lane of its installation is at work. */
export function transactionsOf(db: Db): Transact {
  return (work) => db.transaction(work);
}

/**
 * Write transactions of a lane's work. Each one holds the lease, and none starts after `signal` has aborted. A running
 * one is completed then, or rolled back if that takes longer than a statement may. `onEnded` is called after each.
 */
export function leasedTransactions(
  db: Db,
  lease: Lease,
  {
    signal,
    onEnded,
    finishWithinMs = statementTimeoutMs,
  }: { signal: AbortSignal; onEnded?: () => void; finishWithinMs?: number },
): Transact {
  return async (work) => {
    signal.throwIfAborted();
    const result = await underLease(db, lease, (trx) => endWithin(finishWithinMs, work(trx), signal));
    onEnded?.();
    return result;
  };
}
