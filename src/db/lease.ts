import type { Knex } from 'knex';
import { endWithin } from '../domain/concurrency.ts';
import { bool, integer } from './columns.ts';
import { type Db, statementTimeoutMs } from './pool.ts';
import { type Connection, execute, maybeRow, row } from './rows.ts';

/**
 * One holder at a time for each lane of an installation, and for the delivery to each company of an ERP (table `lease`). The token is
 * a fencing token: it grows with each new holder and with each release, and every write transaction under the lease checks it
 * (`holdLease`). So a holder that was given up writes nothing any more, however long its process lives on. Work of one process takes,
 * renews and releases it by `withLease` (with-lease.ts); a window's activities hold one lease in turn.
 *
 * The lock is `for key share`: writers under one lease do not wait for each other, nor for a renewal, which changes no key. Whoever
 * takes, seizes or releases the lease locks its row `for update`, and so waits for the write transactions under way.
 */

export const lanes = ['live', 'backfill', 'replay', 'scrub', 'delivery', 'books', 'reconcile'] as const;
export type Lane = (typeof lanes)[number];

/** A lane of an installation; with `company`, the delivery to that company of an ERP (`companyScope`). */
export interface LeaseScope {
  installation: number;
  lane: Lane;
  company?: string;
}

/** Several installations may be delivered to one company: its lease is none of theirs. */
export function companyScope(company: string): LeaseScope & { company: string } {
  return { installation: 0, lane: 'delivery', company };
}

/** A lease as its holder knows it. */
export type Lease<Scope extends LeaseScope = LeaseScope> = Scope & { token: number };

/** Somebody else has the lease now: the work that held it before may not go on. */
export class LeaseLost extends Error {
  readonly code: 'window_superseded' | 'erp_company_lost';
  readonly todo = 'nothing: the work that has taken over covers this one';

  constructor(scope: LeaseScope) {
    super(`the lease of ${named(scope)} has another holder or was released`);
    this.code = scope.company === undefined ? 'window_superseded' : 'erp_company_lost';
  }
}

/** Somebody else has the lease, and has not given it back in time. */
export class LeaseBusy extends Error {
  constructor(scope: LeaseScope) {
    super(`the lease of ${named(scope)} has another holder`);
  }
}

/** Nobody renewed the lease in time, and nobody has taken it: whoever renews it may go on. */
export class LeaseExpired extends Error {
  readonly code = 'lease_expired';
  readonly todo = 'nothing: it is tried again by itself';

  constructor(scope: LeaseScope) {
    super(`the lease of ${named(scope)} was not renewed within ${leaseSeconds(scope)} s`);
  }
}

function named({ installation, lane, company }: LeaseScope): string {
  return company === undefined ? `installation ${installation}, lane ${lane},` : 'the ERP’s company';
}

/** A lease outlives a few renewals that fail; the lease of a process that was killed is free after this time. */
export function leaseSeconds({ company }: LeaseScope): number {
  return company === undefined ? 90 : companyLeaseSeconds;
}
export const companyLeaseSeconds = 30;

const ofScope = 'installation = ? and lane = ? and company = ?';
const bindingsOf = ({ installation, lane, company }: LeaseScope) => [installation, lane, company ?? ''];

/** Takes the lease, or renews it for the same holder; null while another holder has it, or still writes under it. */
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
 * As `takeLease`, but the same holder's name is the next attempt of the same work: it takes over from the one before at once, which
 * writes nothing any more. `isLeft`: the holder before did not end in order.
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

/** Takes the lease from whoever holds it, once the write transactions under way are over. */
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

/** A renewal so soon after the one before writes nothing: each activity of a window renews, some milliseconds apart. */
const renewedForSeconds = 10;

/** Keeps a lease alive, one that has expired and that nobody took included; false when it is lost. */
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

/** Frees a lease that is still held, once the write transactions under way are over. `isInOrder`: nothing of its work goes on. */
export async function releaseLease(db: Connection, lease: Lease, { isInOrder = true } = {}): Promise<void> {
  // The token moves on and the holder goes, so that neither a late renewal nor a late attempt brings the lease back.
  await execute(
    db,
    `with held as (select installation, lane, company from lease where ${ofScope} and token = ? for update)
     update lease l set expires_at = clock_timestamp(), token = l.token + 1, holder = '', is_in_order = ?
     from held where (l.installation, l.lane, l.company) = (held.installation, held.lane, held.company)`,
    [...bindingsOf(lease), lease.token, isInOrder],
  );
}

/**
 * Locks the lease's row until the end of the transaction: nobody can take the lease, or release it, before. The first statement
 * of every write transaction of a lane's work. Throws LeaseLost and LeaseExpired.
 */
export async function holdLease(trx: Connection, lease: Lease): Promise<void> {
  const held = await maybeRow(
    trx,
    { alive: bool },
    `select expires_at > clock_timestamp() as alive from lease where ${ofScope} and token = ? for key share`,
    [...bindingsOf(lease), lease.token],
  );
  if (held === null) throw new LeaseLost(lease);
  // What came of a request to an ERP is noted however late, as long as nobody has taken over.
  if (!held.alive && lease.company === undefined) throw new LeaseExpired(lease);
}

/** Frees the lease of a holder that works no more, once the write transactions under way are over. */
export async function freeLease(db: Connection, { installation, lane }: LeaseScope, holder: string): Promise<void> {
  const held = await maybeRow(
    db,
    { token: integer },
    'select token from lease where installation = ? and lane = ? and holder = ?',
    [installation, lane, holder],
  );
  if (held !== null) await releaseLease(db, { installation, lane, token: held.token });
}

/** One write transaction under a lease. Throws LeaseLost and LeaseExpired. */
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

/** Runs a write transaction. */
export type Transact = <Result>(work: (trx: Knex.Transaction) => Promise<Result>) => Promise<Result>;

/** Write transactions of no lane: of a command that runs while none of its installation's lanes does. */
export function transactionsOf(db: Db): Transact {
  return (work) => db.transaction(work);
}

/**
 * Write transactions of a lane's work: each holds the lease, and none begins once `signal` has aborted. One under way is
 * finished then, or rolled back where that takes longer than a statement may; `onEnded` is called after each.
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
