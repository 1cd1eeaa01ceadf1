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
  /** Whether the embedded Temporal server serves its web UI (default true). */
  ui?: boolean | undefined;
  /** A fixed port for the web UI; without it, a free one. */
  uiPort?: number | undefined;
  /** A fixed port for the embedded Temporal server; without it, a free one. */
  temporalPort?: number | undefined;
  /** Receives one line for every slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
}
