import { integer } from './columns.ts';
import { type Connection, execute, maybeRow } from './rows.ts';

/**
 * One writer at a time for each installation (table `lease`): a window, or a repost. The token is a fencing token: it grows
 * with each new holder, so that a holder whose lease was lost can be told from the one that has it.
 */

/** A lease outlives a few renewals that fail; the lease of a process that was killed is free after this time. */
const leaseSeconds = 90;

/** Takes the lease, or renews it for the same holder; gives the token, or null while another holder has it. */
export async function takeLease(db: Connection, installation: number, holder: string): Promise<number | null> {
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
    [installation, holder, leaseSeconds],
  );
  return taken?.token ?? null;
}

/**
 * Keeps a lease alive; false when it was lost to another holder. In a transaction, the lease's row stays locked until its end:
 * nobody can take the lease before.
 */
export async function renewLease(db: Connection, installation: number, token: number): Promise<boolean> {
  const renewed = await execute(
    db,
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?) where installation = ? and token = ?`,
    [leaseSeconds, installation, token],
  );
  return renewed > 0;
}

export async function releaseLease(db: Connection, installation: number, token: number): Promise<void> {
  // The token moves on, so that a late renewal cannot bring the lease back.
  await execute(
    db,
    `update lease set expires_at = clock_timestamp(), token = token + 1 where installation = ? and token = ?`,
    [installation, token],
  );
}
