import { bool, instant, integer, nullable, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { Clock } from '../domain/clock.ts';
import { companyKey } from './entry-key.ts';
import type { CompanyRef } from './port.ts';

/**
 * One holder at a time delivers to a company (table `erp_company`). The token is a fencing token: it grows with each new holder
 * and with each release, and every write transaction of a delivery checks it, as does every request that writes, just before it is
 * sent. A holder that did not end in order may have left requests at work: whoever comes next looks up everything that is noted as
 * being sent to the company, once the server can be done, before it sends anything.
 */
export interface CompanyLease {
  company: string;
  token: number;
}

/** What came of asking for the lease: it, or how long somebody else has it at least. */
export type TakenCompany =
  | {
      lease: CompanyLease;
      /** Until everything that was being sent may be looked up; null: there is nothing to look up. */
      settleInMs: number | null;
      /** Until something may be sent again, and why not before. */
      waitMs: number;
      error: { code: string; message: string } | null;
      /** Requests that failed in a row. */
      failures: number;
    }
  | { lease: null; busyMs: number };

/** Somebody else delivers to the company now. */
export class CompanyLost extends Error {
  readonly code = 'erp_company_lost';
  readonly todo = 'nothing: who has taken over looks up what was being sent';

  constructor() {
    super('the lease of the ERP’s company has another holder or was released');
  }
}

/** The lease of a process that was killed is free after this time. */
export const companyLeaseSeconds = 30;
const renewEveryMs = 10_000;

/**
 * Takes the lease. The same holder's name is the next attempt of the same work: it takes over from the one before at once, which
 * then sends and writes nothing any more. `mayWorkMs`: how long the server may be at work on what its holder sent last.
 */
export async function takeCompany(
  db: Db,
  ref: CompanyRef,
  holder: string,
  { mayWorkMs }: { mayWorkMs: number },
): Promise<TakenCompany> {
  const company = companyKey(ref);
  return db.transaction(async (trx) => {
    await execute(trx, 'insert into erp_company (company, kind, name) values (?, ?, ?) on conflict do nothing', [
      company,
      ref.kind,
      ref.id,
    ]);
    const found = await row(
      trx,
      { is_released: bool, holder: text, expires_in_ms: integer },
      `select is_released, holder, greatest(0, case when expires_at > clock_timestamp()
         then ceil(extract(epoch from expires_at - clock_timestamp()) * 1000) else 0 end)::bigint as expires_in_ms
       from erp_company where company = ? for update`,
      [company],
    );
    const isTakeOver = !found.is_released;
    if (isTakeOver && found.holder !== holder && found.expires_in_ms > 0) {
      return { lease: null, busyMs: found.expires_in_ms };
    }
    const taken = await row(
      trx,
      {
        token: integer,
        settle_in_ms: nullable(integer),
        wait_ms: integer,
        last_error_code: nullable(text),
        last_error_message: nullable(text),
        failures: integer,
      },
      `update erp_company set token = token + 1, holder = ?, is_released = false,
         expires_at = clock_timestamp() + make_interval(secs => ?),
         settle_from = case when ? and exists (select from erp_unit u where u.company = erp_company.company and u.state = 'sending')
           then coalesce(settle_from, clock_timestamp() + make_interval(secs => ?)) else settle_from end
       where company = ?
       returning token, failures, last_error_code, last_error_message,
         case when settle_from > clock_timestamp()
           then ceil(extract(epoch from settle_from - clock_timestamp()) * 1000)
           when settle_from is not null then 0 end::bigint as settle_in_ms,
         case when not_before > clock_timestamp()
           then ceil(extract(epoch from not_before - clock_timestamp()) * 1000) else 0 end::bigint as wait_ms`,
      [holder, companyLeaseSeconds, isTakeOver, mayWorkMs / 1000, company],
    );
    const { last_error_code: code, last_error_message: message } = taken;
    return {
      lease: { company, token: taken.token },
      settleInMs: taken.settle_in_ms,
      waitMs: taken.wait_ms,
      error: code === null ? null : { code, message: message ?? '' },
      failures: taken.failures,
    };
  });
}

/** Keeps the lease for some more time; false where it is lost. Every request that writes does so just before it is sent. */
export async function renewCompany(db: Connection, { company, token }: CompanyLease): Promise<boolean> {
  const renewed = await execute(
    db,
    `update erp_company set expires_at = clock_timestamp() + make_interval(secs => ?) where company = ? and token = ?`,
    [companyLeaseSeconds, company, token],
  );
  return renewed > 0;
}

/** Locks the company's row against a change of holder until the end of the transaction. Throws CompanyLost. */
export async function holdCompany(trx: Connection, { company, token }: CompanyLease): Promise<void> {
  const held = await maybeRow(
    trx,
    { company: text },
    'select company from erp_company where company = ? and token = ? for key share',
    [company, token],
  );
  if (held === null) throw new CompanyLost();
}

/** A write transaction of a delivery, under its lease. Throws CompanyLost. */
export function underLease<Result>(
  db: Db,
  lease: CompanyLease,
  work: (trx: Connection) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (trx) => {
    await holdCompany(trx, lease);
    return work(trx);
  });
}

/** Everything that was being sent at a take-over has been looked up. */
export async function noteSettled(trx: Connection, { company, token }: CompanyLease): Promise<void> {
  await execute(trx, 'update erp_company set settle_from = null where company = ? and token = ?', [company, token]);
}

/** Gives the lease back. `isInOrder`: no request is at work, and none is noted as being sent. */
export async function releaseCompany(
  db: Connection,
  { company, token }: CompanyLease,
  { isInOrder }: { isInOrder: boolean },
): Promise<void> {
  await execute(
    db,
    `update erp_company set expires_at = clock_timestamp(), holder = '', token = token + 1, is_released = ?
     where company = ? and token = ?`,
    [isInOrder, company, token],
  );
}

/** Does work under the lease, which is renewed meanwhile and given back at the end. The signal aborts when the lease is lost. */
export async function withLease<Result>(
  { db, clock, signal }: { db: Db; clock: Clock; signal: AbortSignal },
  lease: CompanyLease,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const lost = new AbortController();
  const renewing = keepRenewing({ db, clock, over: over.signal, lost }, lease);
  let isInOrder = false;
  try {
    const result = await work(AbortSignal.any([signal, lost.signal]));
    isInOrder = true;
    return result;
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    over.abort();
    await renewing;
    await releaseCompany(db, lease, { isInOrder }).catch((error: unknown) => {
      // Without a database the lease runs out by itself; the failure of the work is what is told.
      if (isInOrder) throw error;
    });
  }
}

async function keepRenewing(
  { db, clock, over, lost }: { db: Db; clock: Clock; over: AbortSignal; lost: AbortController },
  lease: CompanyLease,
): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(renewEveryMs, over).catch(() => undefined);
    if (over.aborted) return;
    // A database that is away for a moment is asked again; every request that writes checks the lease itself.
    const isHeld = await renewCompany(db, lease).catch(() => true);
    if (!isHeld) {
      lost.abort(new CompanyLost());
      return;
    }
  }
}

const failureShape = { failures: integer, not_before: nullable(instant) };

/** Notes that requests fail, and that nothing is sent to the company for some time. */
export function noteFailure(
  trx: Connection,
  { company }: Pick<CompanyLease, 'company'>,
  { code, message, waitMs }: { code: string; message: string; waitMs: number },
) {
  return row(
    trx,
    failureShape,
    `update erp_company set failures = failures + 1, last_error_code = ?, last_error_message = ?,
       last_error_at = clock_timestamp(), not_before = clock_timestamp() + make_interval(secs => ?)
     where company = ? returning failures, not_before`,
    [code, message, waitMs / 1000, company],
  );
}

/** Notes that the ERP answers; `works`: that it also does what it is asked, so that its failures are over. */
export async function noteAnswer(
  trx: Connection,
  { company }: Pick<CompanyLease, 'company'>,
  { works }: { works: boolean },
): Promise<void> {
  await execute(
    trx,
    works
      ? `update erp_company set failures = 0, not_before = null, last_error_code = null, last_error_message = null,
           last_answer_at = clock_timestamp() where company = ?`
      : 'update erp_company set last_answer_at = clock_timestamp() where company = ?',
    [company],
  );
}

/** Notes, for a company to which nothing is requested, what keeps everything from it, or that nothing does any more. */
export async function noteOutcome(
  db: Connection,
  ref: CompanyRef,
  error: { code: string; message: string } | null,
): Promise<void> {
  await execute(
    db,
    `insert into erp_company as known (company, kind, name, last_error_code, last_error_message, last_error_at, last_answer_at)
     values (?, ?, ?, ?, ?, case when ? then clock_timestamp() end, case when not ? then clock_timestamp() end)
     on conflict (company) do update set last_error_code = excluded.last_error_code,
       last_error_message = excluded.last_error_message, last_error_at = coalesce(excluded.last_error_at, known.last_error_at),
       last_answer_at = coalesce(excluded.last_answer_at, known.last_answer_at)`,
    [
      ...[companyKey(ref), ref.kind, ref.id, error?.code ?? null, error?.message ?? null],
      ...[error !== null, error !== null],
    ],
  );
}
