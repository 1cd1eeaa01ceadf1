import { bool, instant } from '../db/columns.ts';
import { type Connection, maybeRow } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** A daemon without a heartbeat for this time counts as ended. */
const silentSeconds = 60;

/** The last sign of life of a daemon that serves an installation, and whether it runs. Null if none is known. */
export function lastDaemon(
  db: Connection,
  installation: InstallationId,
  taskQueue: string,
): Promise<{ heardAt: Date; isRunning: boolean } | null> {
  return maybeRow(
    db,
    { heardAt: instant, isRunning: bool },
    `select heard_at as "heardAt",
       ended_at is null and heard_at > clock_timestamp() - make_interval(secs => ${silentSeconds}) as "isRunning"
     from daemon where task_queue = ? and ? = any(installations) and command in ('run', 'dev')
     order by ended_at is not null, heard_at desc limit 1`,
    [taskQueue, installation],
  );
}
