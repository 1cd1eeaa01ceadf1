import { integer } from './columns.ts';
import { type Connection, execute, maybeRow } from './rows.ts';

/**
 * One lease per installation (table `lease`): whoever holds it is the only window or repost at work. The token grows with each
 * new holder (a fencing token), so that a writer whose lease was lost is recognised when it renews.
 */

/** Takes the lease, or extends it for the same holder. Returns its token; null while another holder's lease is in force. */
export async function takeLease(
  db: Connection,
  installation: number,
  holder: string,
  seconds: number,
): Promise<number | null> {
  const taken = await maybeRow(
    db,
    { token: integer },
    `insert into lease as l (installation, token, holder, expires_at)
     values (?, 1, ?, clock_timestamp() + make_interval(secs => ?))
     on conflict (installation) do update set
       token = case when l.holder = excluded.holder then l.token else l.token + 1 end,
       holder = excluded.holder, expires_at = excluded.expires_at
     where l.holder = excluded.holder or l.expires_at < clock_timestamp()
     returning token`,
    [installation, holder, seconds],
  );
  return taken?.token ?? null;
}

/** Extends a lease; false when another holder has taken it. */
export async function renewLease(
  db: Connection,
  installation: number,
  token: number,
  seconds: number,
): Promise<boolean> {
  const renewed = await execute(
    db,
    'update lease set expires_at = clock_timestamp() + make_interval(secs => ?) where installation = ? and token = ?',
    [seconds, installation, token],
  );
  return renewed > 0;
}

/** Ends a lease. The token grows, so that a renewal that arrives late cannot extend it. */
export async function releaseLease(db: Connection, installation: number, token: number): Promise<void> {
  await execute(
    db,
    'update lease set expires_at = clock_timestamp(), token = token + 1 where installation = ? and token = ?',
    [installation, token],
  );
}
