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
     from daemon d where ended_at is null and heard_at > clock_timestamp() - interval '1 day' order by heard_at desc limit 200`,
    [installations],
  );
}

export interface DatabaseState {
  version: string;
  /** The newest migration of the schema. */
  schema: string;
  migratedAt: Date;
  bytes: number;
  /** How much it has grown since this number of days. Null before a daemon has stored a size on an earlier day. */
  growth: { days: number; bytes: number } | null;
  /** Whether it accepts no writes, as a standby does. */
  isReadOnly: boolean;
  /** When the last backup ended. Null if none has succeeded. */
  backupSecondsAgo: number | null;
}

/** Growth is measured over this number of days, or fewer if the database is younger. */
const growthDays = 30;

export async function databaseState(db: Connection): Promise<DatabaseState> {
  const found = await row(
    db,
    {
      ...{ version: text, schema: text, migratedAt: instant, bytes: integer, isReadOnly: bool },
      ...{ backupSecondsAgo: nullable(integer), days: nullable(integer), before: nullable(integer) },
    },
    `select current_setting('server_version') as version, m.name as schema, m.applied_at as "migratedAt",
       pg_database_size(current_database()) as bytes, pg_is_in_recovery() as "isReadOnly",
       (select extract(epoch from clock_timestamp() - finished_at)::bigint from backup) as "backupSecondsAgo",
       s.days, s.bytes as before
     from migration m left join lateral (
       select (clock_timestamp() at time zone 'utc')::date - day as days, bytes from database_size
       where day between (clock_timestamp() at time zone 'utc')::date - ?::int and (clock_timestamp() at time zone 'utc')::date - 1
       order by day limit 1) s on true
     order by m.name desc limit 1`,
    [growthDays],
  );
  const { days, before, ...state } = found;
  return { ...state, growth: days === null || before === null ? null : { days, bytes: state.bytes - before } };
}
