import { instant, integer, nullable, text } from '../db/columns.ts';
import { companyScope, type Lease, takeOverLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { companyKey } from './entry-key.ts';
import type { CompanyRef } from './port.ts';

/**
 * Only one process at a time delivers to a company. Every write transaction of a delivery checks the lease's token, and
 * so does every writing request just before it is sent. A process that did not shut down cleanly may have left requests
 * running in the ERP. The next holder therefore waits until the server can have finished, looks up everything that is
 * marked as being sent, and only then sends.
 */
export type CompanyLease = Lease<ReturnType<typeof companyScope>>;

/** The result of requesting the lease; `lease` is null if another process holds it. */
export type TakenCompany =
  | {
      lease: CompanyLease;
      /** Milliseconds until the units that were being sent may be looked up; null if there are none. */
      lookUpInMs: number | null;
      /** Milliseconds until requests may be sent again; `error` is the reason for waiting. */
      waitMs: number;
      error: { code: string; message: string } | null;
      /** Number of consecutive failed requests. */
      failures: number;
    }
  | { lease: null };

/**
 * Takes the lease. A call with the same holder name is the next attempt of the same work: it takes over at once, and
 * the attempt before can no longer send or write. `mayWorkMs`: how long the server may work on the last request of the
 * former holder.
 */
export async function takeCompany(
  db: Db,
  ref: CompanyRef,
  holder: string,
  { mayWorkMs }: { mayWorkMs: number },
): Promise<TakenCompany> {
  const company = companyKey(ref);
  return db.transaction(async (trx) => {
    const over = await takeOverLease(trx, companyScope(company), holder);
    if (over === null) return { lease: null };
    await execute(trx, 'insert into erp_company (company, kind, name) values (?, ?, ?) on conflict do nothing', [
      company,
      ref.kind,
      ref.id,
    ]);
    const taken = await row(
      trx,
      {
        look_up_in_ms: nullable(integer),
        wait_ms: integer,
        last_error_code: nullable(text),
        last_error_message: nullable(text),
        failures: integer,
      },
      `update erp_company set
         look_up_from = case when ? and exists (select from erp_unit u where u.company = erp_company.company and u.state = 'sending')
           then coalesce(look_up_from, clock_timestamp() + make_interval(secs => ?)) else look_up_from end
       where company = ?
       returning failures, last_error_code, last_error_message,
         case when look_up_from > clock_timestamp()
           then ceil(extract(epoch from look_up_from - clock_timestamp()) * 1000)
           when look_up_from is not null then 0 end::bigint as look_up_in_ms,
         case when not_before > clock_timestamp()
           then ceil(extract(epoch from not_before - clock_timestamp()) * 1000) else 0 end::bigint as wait_ms`,
      [over.isLeft, mayWorkMs / 1000, company],
    );
    const { last_error_code: code, last_error_message: message } = taken;
    return {
      lease: over.lease,
      lookUpInMs: taken.look_up_in_ms,
      waitMs: taken.wait_ms,
      error: code === null ? null : { code, message: message ?? '' },
      failures: taken.failures,
    };
  });
}

/** Records that every unit that was being sent at the take-over has been looked up. */
export async function noteDoubtsResolved(trx: Connection, { company }: CompanyLease): Promise<void> {
  await execute(trx, 'update erp_company set look_up_from = null where company = ?', [company]);
}

const failureShape = { failures: integer, not_before: nullable(instant) };

/** Records a failed request, and that nothing is sent to the company for `waitMs`. */
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

/** Records that the ERP answered. `works`: it also accepted the request, so its count of failures restarts at zero. */
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

/**
 * Records the error that stops all deliveries to a company, or null if nothing stops them. For companies that receive
 * no requests.
 */
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
