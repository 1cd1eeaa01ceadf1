import type { AskedAction } from '../../actions/asking.ts';
import type { Config, InstallationConfig } from '../../config/load-config.ts';
import type { Db } from '../../db/pool.ts';
import type { Connection } from '../../db/rows.ts';
import type { AskedWindows } from '../asked-windows.ts';

/** What performers use of the daemon. */
export interface PerformPorts {
  config: Config;
  clock(): Date;
}

/**
 * Performs an asked action in the transaction of the caller, and records its outcome there. Throws UserError if the action is not
 * possible, or if its effect differs from the one that the person saw.
 */
export type Perform = (
  trx: Connection,
  installation: InstallationConfig,
  action: AskedAction,
  ports: PerformPorts,
) => Promise<void>;

export interface LongPorts {
  db: Db;
  /** Null in a process that performs no action outside PostgreSQL. */
  windows: AskedWindows | null;
}

/**
 * Performs an action that takes minutes, outside the loop of the other actions. Returns the result that the outcome records. Null leaves
 * the action to another process. The daemon may end before that, and then calls it again. `signal` ends it between two batches.
 */
export type LongPerform = (
  ports: LongPorts,
  installation: InstallationConfig,
  action: AskedAction,
  signal: AbortSignal,
) => Promise<object | null>;
