import type { Knex } from 'knex';
import { endWithin } from '../domain/concurrency.ts';
import { bool, instant, integer, json, oneOf, text } from './columns.ts';
import { type Db, statementTimeoutMs } from './pool.ts';
import { type Connection, execute, maybeRow, row, rows } from './rows.ts';

/**
 * One holder at a time for each installation and lane (table `lease`). The token is a fencing token: it grows with each new
 * holder and with each release, and every write transaction of a lane's work checks it under a lock (`holdLease`). So a holder
 * that was given up writes nothing any more, however long its process lives on.
 *
 * The lock is `for key share`: writers of one lane do not wait for each other, nor for a renewal, which changes no key. Whoever
 * takes, seizes or releases the lease locks its row `for update`, and so waits for the write transactions under way.
 */

export const lanes = ['live', 'backfill', 'replay', 'scrub', 'delivery', 'books'] as const;
export type Lane = (typeof lanes)[number];

export interface LeaseScope {
  installation: number;
  lane: Lane;
}

/** A lease as its holder knows it. */
export interface Lease extends LeaseScope {
  token: number;
}

/** Somebody else holds the lane now: the work that held it before may not go on. */
export class LeaseLost extends Error {
  readonly code = 'window_superseded';
  readonly todo: string;

  constructor({ installation, lane }: LeaseScope) {
    super(`the lease of installation ${installation}, lane ${lane}, has another holder or was released`);
    this.todo = 'nothing: the work that has taken over covers this one';
  }
}

/** Nobody renewed the lease in time, and nobody has taken it: whoever renews it may go on. */
export class LeaseExpired extends Error {
  readonly code = 'lease_expired';
  readonly todo = 'nothing: it is tried again by itself';

  constructor({ installation, lane }: LeaseScope) {
    super(`the lease of installation ${installation}, lane ${lane}, was not renewed within ${leaseSeconds} s`);
  }
}

/** A lease outlives a few renewals that fail; the lease of a process that was killed is free after this time. */
const leaseSeconds = 90;

/** Takes the lease, or renews it for the same holder; null while another holder has it, or still writes under it. */
export async function takeLease(db: Connection, { installation, lane }: LeaseScope, holder: string) {
  const again = await maybeRow(
    db,
    { token: integer },
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and lane = ? and holder = ? returning token`,
    [leaseSeconds, installation, lane, holder],
  );
  const taken =
    again ??
    (await maybeRow(
      db,
      { token: integer },
      `with free as (
         select installation, lane from lease
         where installation = ? and lane = ? and expires_at < clock_timestamp() for update skip locked
       ), taken as (
         update lease l set token = l.token + 1, holder = ?, expires_at = clock_timestamp() + make_interval(secs => ?),
           taken_at = clock_timestamp(), waits = '{}'
         from free where l.installation = free.installation and l.lane = free.lane returning l.token
       ), made as (
         insert into lease (installation, lane, token, holder, expires_at)
         values (?, ?, 1, ?, clock_timestamp() + make_interval(secs => ?))
         on conflict do nothing returning token
       )
       select token from taken union all select token from made`,
      [installation, lane, holder, leaseSeconds, installation, lane, holder, leaseSeconds],
    ));
  return taken === null ? null : { installation, lane, token: taken.token };
}

/** Takes the lease from whoever holds it, once the write transactions under way are over. */
export async function seizeLease(db: Db, { installation, lane }: LeaseScope, holder: string): Promise<Lease> {
  return db.transaction(async (trx) => {
    await execute(trx, 'select from lease where installation = ? and lane = ? for update', [installation, lane]);
    const { token } = await row(
      trx,
      { token: integer },
      `insert into lease as l (installation, lane, token, holder, expires_at)
       values (?, ?, 1, ?, clock_timestamp() + make_interval(secs => ?))
       on conflict (installation, lane) do update set
         token = l.token + 1, holder = excluded.holder, expires_at = excluded.expires_at,
         taken_at = clock_timestamp(), waits = '{}'
       returning token`,
      [installation, lane, holder, leaseSeconds],
    );
    return { installation, lane, token };
  });
}

/** Who holds leases of an installation that have not expired, lane by lane. */
export function leaseHolders(db: Connection, installation: number): Promise<{ lane: Lane; holder: string }[]> {
  return rows(
    db,
    { lane: oneOf(lanes), holder: text },
    `select lane, holder from lease
     where installation = ? and holder <> '' and expires_at > clock_timestamp() order by lane`,
    [installation],
  );
}

/** What an activity that holds a lane waits for. */
export interface LaneWait {
  /** `an answer of the practice API (GET /4711/invoice/)` */
  for: string;
  /** ISO instant. */
  since: string;
  /** What its attempts failed with since the last success, and how often; null: nothing. */
  error: { code: string; message: string; todo: string } | null;
  attempts: number;
}

/** Notes what one activity of the lane's holder waits for; null: nothing any more. Nothing where the lease is another's by now. */
export async function noteLaneWait(
  db: Connection,
  { installation, lane, token }: Lease,
  activity: string,
  wait: LaneWait | null,
): Promise<void> {
  await execute(
    db,
    `update lease set waits = waits ${wait === null ? '- ?::text' : '|| ?::jsonb'}
     where installation = ? and lane = ? and token = ?`,
    [wait === null ? activity : JSON.stringify({ [activity]: wait }), installation, lane, token],
  );
}

/** The work that holds a lane of an installation. */
export interface LaneAtWork extends LeaseScope {
  holder: string;
  /** Since when. */
  takenAt: Date;
  /** Its lease is renewed: false where its process was killed, or stands still. */
  isAlive: boolean;
  waits: LaneWait[];
}

/** The lanes of these installations that are held, or were held by a process that is not heard of any more. */
export async function lanesAtWork(db: Connection, installations: readonly number[]): Promise<LaneAtWork[]> {
  const found = await rows(
    db,
    {
      ...{ installation: integer, lane: oneOf(lanes), holder: text },
      ...{ takenAt: instant, isAlive: bool, waits: json },
    },
    `select installation, lane, holder, taken_at as "takenAt", expires_at > clock_timestamp() as "isAlive", waits
     from lease where installation = any(?::bigint[]) and holder <> '' order by installation, lane`,
    [installations],
  );
  return found.map(({ waits, ...held }) => ({
    ...held,
    waits: Object.values(JSON.parse(waits) as Record<string, LaneWait>),
  }));
}

/** A renewal so soon after the one before writes nothing: each activity of a window renews, some milliseconds apart. */
const renewedForSeconds = 10;

/** Keeps a lease alive, one that has expired and that nobody took included; false when it is lost. */
export async function renewLease(db: Connection, { installation, lane, token }: Lease): Promise<boolean> {
  const held = await maybeRow(
    db,
    { isNew: bool },
    `select expires_at > clock_timestamp() + make_interval(secs => ?) as "isNew" from lease
     where installation = ? and lane = ? and token = ?`,
    [leaseSeconds - renewedForSeconds, installation, lane, token],
  );
  if (held === null) return false;
  if (held.isNew) return true;
  const renewed = await execute(
    db,
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and lane = ? and token = ?`,
    [leaseSeconds, installation, lane, token],
  );
  return renewed > 0;
}

/** Frees a lease that is still held, once the write transactions under way are over. */
export async function releaseLease(db: Connection, { installation, lane, token }: Lease): Promise<void> {
  // The token moves on and the holder goes, so that neither a late renewal nor a late attempt brings the lease back.
  await execute(
    db,
    `with held as (
       select installation, lane from lease where installation = ? and lane = ? and token = ? for update
     )
     update lease l set expires_at = clock_timestamp(), token = l.token + 1, holder = ''
     from held where l.installation = held.installation and l.lane = held.lane`,
    [installation, lane, token],
  );
}

/**
 * Locks the lease's row until the end of the transaction: nobody can take the lease, or release it, before. The first statement
 * of every write transaction of a lane's work. Throws LeaseLost and LeaseExpired.
 */
export async function holdLease(trx: Connection, lease: Lease): Promise<void> {
  const { installation, lane, token } = lease;
  const held = await maybeRow(
    trx,
    { alive: bool },
    `select expires_at > clock_timestamp() as alive from lease
     where installation = ? and lane = ? and token = ? for key share`,
    [installation, lane, token],
  );
  if (held === null) throw new LeaseLost(lease);
  if (!held.alive) throw new LeaseExpired(lease);
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
    const result = await db.transaction(async (trx) => {
      await holdLease(trx, lease);
      return endWithin(finishWithinMs, work(trx), signal);
    });
    onEnded?.();
    return result;
  };
}
