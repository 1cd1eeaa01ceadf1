import type { AskedAction } from '../../actions/asking.ts';
import type { Config, InstallationConfig } from '../../config/load-config.ts';
import type { Connection } from '../../db/rows.ts';

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
