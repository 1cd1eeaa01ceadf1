import type { Logger } from 'pino';
import type { Config } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';

/** What the console works with. It has no secret of a practice or an ERP, and no client of either. */
export interface ConsoleContext {
  config: Config;
  /** Address of the Temporal UI, for links. Null for no links. */
  temporalUi: string | null;
  /** A pool with the role of the console. */
  db: Db;
  log: Logger;
  clock(): Date;
  version: string;
}
