import type { TemporalSecurity } from '../domain/temporal-security.ts';

export interface ServicesOptions {
  /** Folder for this installation's data. Embedded servers keep their data below it. */
  dataDir: string;
  /** A PostgreSQL to use in place of the embedded one (`database_url`). */
  databaseUrl?: string | undefined;
  /** The URL for connecting as the owner of the tables, on a given PostgreSQL (`migrate_database_url`). */
  migrateDatabaseUrl?: string | undefined;
  /** host:port of a Temporal server to use in place of the embedded one (`temporal.address`). */
  temporalAddress?: string | undefined;
  /** TLS settings of the connections to that server. */
  temporalSecurity?: TemporalSecurity | undefined;
  /**
   * Whether an embedded Temporal server that this call starts serves its web UI (default false). All users of the
   * machine can use it.
   */
  ui?: boolean | undefined;
  /** A fixed port for the embedded Temporal server. Without it, the port of its last start, or a free one. */
  temporalPort?: number | undefined;
  /** Receives one line for every slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
}
