import { integer, nullable } from '../../db/columns.ts';
import { type Connection, execute, maybeRow } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';

/**
 * Entries that the ERP may have although the outbox does not know it (table `erp_look_up`). After a backup was
 * restored, these are the entries that were delivered since the backup. Posted again, they have the same keys, so they
 * are looked up before they are sent.
 */

/**
 * Puts pending units in doubt; units without approval follow when they are approved. The same happens to units that windows
 * post, until the first window has closed that starts from now on.
 */
export async function lookUpFirst(trx: Connection, installation: InstallationId): Promise<number> {
  await execute(
    trx,
    `insert into erp_look_up (installation) values (?)
     on conflict (installation) do update set since = clock_timestamp(), until_window = null`,
    [installation],
  );
  return execute(
    trx,
    `update erp_unit set state = 'uncertain', doubt = 'no_answer', not_before = clock_timestamp()
     where installation = ? and state = 'pending' and not needs_approval`,
    [installation],
  );
}

/**
 * Id of the last window whose entries the ERP may have. Null if that window has not closed yet, and undefined if no
 * look-up is needed.
 */
export async function lookUpThrough(trx: Connection, installation: InstallationId): Promise<number | null | undefined> {
  await execute(
    trx,
    `update erp_look_up l set until_window = (
       select min(w.id) from sync_window w
       where w.installation = l.installation and w.kind = 'window' and w.outcome = 'closed' and w.opened_at > l.since)
     where l.installation = ? and l.until_window is null`,
    [installation],
  );
  const found = await maybeRow(
    trx,
    { until_window: nullable(integer) },
    'select until_window from erp_look_up where installation = ?',
    [installation],
  );
  return found === null ? undefined : found.until_window;
}
