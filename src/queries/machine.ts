import { bool, instant, integer, integers, nullable, text } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** A daemon, or a command that runs windows. Ages are by the database's clock. */
export interface Process {
  command: string;
  host: string;
  process: number;
  version: string;
  /** Those of the requested installations that it serves. */
  installations: number[];
  startedAt: Date;
  heardSecondsAgo: number;
  temporalGoneSince: Date | null;
}

/** The processes that were heard of in the last day, the newest sign of life first. */
export function processes(db: Connection, installations: readonly InstallationId[]): Promise<Process[]> {
  return rows(
    db,
    {
      ...{ command: text, host: text, process: integer, version: text, installations: integers, startedAt: instant },
      ...{ heardSecondsAgo: integer, temporalGoneSince: nullable(instant) },
    },
    `select command, host, process, version, started_at as "startedAt", temporal_gone_since as "temporalGoneSince",
       array(select id from unnest(d.installations) id where id = any(?) order by id) as installations,
       extract(epoch from clock_timestamp() - heard_at)::bigint as "heardSecondsAgo"
     from daemon d where heard_at > clock_timestamp() - interval '1 day' order by heard_at desc limit 200`,
    [installations],
  );
}

export interface DatabaseState {
  version: string;
  /** The newest migration of the schema. */
  schema: string;
  migratedAt: Date;
  bytes: number;
  /** Whether it accepts no writes, as a standby does. */
  isReadOnly: boolean;
  /** When the last backup ended. Null if none has succeeded. */
  backupSecondsAgo: number | null;
}

export function databaseState(db: Connection): Promise<DatabaseState> {
  return row(
    db,
    {
      ...{ version: text, schema: text, migratedAt: instant, bytes: integer, isReadOnly: bool },
      backupSecondsAgo: nullable(integer),
    },
    `select current_setting('server_version') as version, m.name as schema, m.applied_at as "migratedAt",
       pg_database_size(current_database()) as bytes, pg_is_in_recovery() as "isReadOnly",
       (select extract(epoch from clock_timestamp() - finished_at)::bigint from backup) as "backupSecondsAgo"
     from migration m order by m.name desc limit 1`,
  );
}
