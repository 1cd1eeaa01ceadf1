import type { TemporalSecurity } from '../domain/temporal-security.ts';

export interface ServicesOptions {
  /** Folder of this installation's own data; embedded servers keep theirs below it. */
  dataDir: string;
  /** A PostgreSQL to use instead of the embedded one (`database_url`). */
  databaseUrl?: string | undefined;
  /** Where to connect as the owner of the tables, on a given PostgreSQL (`migrate_database_url`). */
  migrateDatabaseUrl?: string | undefined;
  /** host:port of a Temporal server to use instead of the embedded one (`temporal.address`). */
  temporalAddress?: string | undefined;
  /** How connections to that server are protected. */
  temporalSecurity?: TemporalSecurity | undefined;
  /** Whether an embedded Temporal server that this call starts serves its web UI (default false). Everybody on the machine can use it. */
  ui?: boolean | undefined;
  /** A fixed port for the embedded Temporal server; without it, that of its last start, or a free one. */
  temporalPort?: number | undefined;
  /** Receives one line for every slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
}
