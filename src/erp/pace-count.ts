import { integer, nullable } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { LimitLeft } from './port.ts';

/** Counts the requests to a company, in the table `erp_request`. */

export interface Refused {
  waitMs: number;
  which: 'requests' | 'errors';
}

/** A limit: the ERP allows at most `n` requests or errors in `perSeconds` seconds. */
export interface Count {
  n: number;
  perSeconds: number;
  /** What one request costs, in units of the limit. */
  weight: number;
}

export interface Allowance {
  limits: Count[];
  errors: Count | null;
}

/** Counts a request as sent, or returns how long to wait. Only one transaction at a time does this for a company. */
export async function takeRequest(
  trx: Connection,
  company: string,
  allowance: Allowance,
): Promise<{ requestId: number } | Refused> {
  await lockCount(trx, company);
  const refused = await refusedBy(trx, company, allowance);
  if (refused !== null) return refused;
  const { limits, errors } = allowance;
  const longest = Math.max(...limits.map(({ perSeconds }) => perSeconds), errors?.perSeconds ?? 0);
  const { id } = await row(
    trx,
    { id: integer },
    `insert into erp_request (company, weight, sent_at) values (?, 1, clock_timestamp()) returning id`,
    [company],
  );
  // Each new request deletes two old ones that no limit counts any more, so the table does not grow.
  await execute(
    trx,
    `delete from erp_request where id in (
       select id from erp_request where company = ? and sent_at < clock_timestamp() - make_interval(secs => ?)
       order by sent_at limit 2)`,
    [company, longest],
  );
  return { requestId: id };
}

/** The limit that a request would exceed, and how long to wait; null if there is none. */
export async function refusedBy(
  db: Connection,
  company: string,
  { limits, errors }: Allowance,
): Promise<Refused | null> {
  for (const { n, perSeconds } of limits) {
    const waitMs = await waitFor(db, company, n, perSeconds, false);
    if (waitMs !== null) return { waitMs, which: 'requests' };
  }
  if (errors !== null) {
    const waitMs = await waitFor(db, company, errors.n, errors.perSeconds, true);
    if (waitMs !== null) return { waitMs, which: 'errors' };
  }
  return null;
}

async function lockCount(trx: Connection, company: string): Promise<void> {
  await execute(trx, 'select pg_advisory_xact_lock(hashtextextended(?, 0))', [`vetledger pace ${company}`]);
}

/**
 * Compares what the ERP states is left of a limit with our count. If the ERP has counted more, others sent the
 * difference, and it counts from now on.
 */
export async function noteStated(
  trx: Connection,
  company: string,
  limits: readonly Count[],
  stated: readonly LimitLeft[],
): Promise<void> {
  await lockCount(trx, company);
  for (const { perSeconds, left } of stated) {
    const limit = limits.find((one) => one.perSeconds === perSeconds);
    if (limit === undefined) continue;
    await execute(trx, 'delete from erp_request where company = ? and per_seconds = ?', [company, perSeconds]);
    await execute(
      trx,
      `insert into erp_request (company, weight, per_seconds)
       select ?, ?::int - coalesce(sum(weight), 0)::int, ? from erp_request
       where company = ? and per_seconds is null and sent_at > clock_timestamp() - make_interval(secs => ?)
       having ?::int > coalesce(sum(weight), 0)`,
      [
        ...[company, limit.n - Math.floor(left / limit.weight), perSeconds],
        ...[company, perSeconds, limit.n - Math.floor(left / limit.weight)],
      ],
    );
  }
}

/**
 * Milliseconds until fewer than n requests, or errors, are within the last `perSeconds` seconds; null if they already
 * are.
 */
async function waitFor(
  db: Connection,
  company: string,
  n: number,
  perSeconds: number,
  isError: boolean,
): Promise<number | null> {
  const nth = await maybeRow(
    db,
    { wait_ms: nullable(integer) },
    `select ceil(extract(epoch from sent_at + make_interval(secs => ?) - clock_timestamp()) * 1000)::bigint as wait_ms
     from (
       select sent_at, sum(${isError ? '1' : 'weight'}) over (order by sent_at desc, id) as up_to_here from erp_request
       where company = ? and sent_at > clock_timestamp() - make_interval(secs => ?)
         and ${isError ? 'is_error' : '(per_seconds is null or per_seconds = ?)'}) as counted
     where up_to_here >= ? order by sent_at desc limit 1`,
    [perSeconds, company, perSeconds, ...(isError ? [] : [perSeconds]), n],
  );
  const waitMs = nth?.wait_ms ?? 0;
  return waitMs > 0 ? waitMs : null;
}
