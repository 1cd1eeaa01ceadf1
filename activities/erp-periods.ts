import { givesNumbers } from '../src/config/erp.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { pacedTarget } from '../src/erp/erp-pace.ts';
import { refreshPeriods } from '../src/erp/periods.ts';
import { ErpError } from '../src/erp/port.ts';
import type { ActivityDeps } from './deps.ts';
import type { Heartbeat } from './heartbeat.ts';

/**
 * A step of the delivery: reads the ERP's periods if no batch was sent recently, so that posting learns of a closed
 * period in time. An ERP that does not answer fails nothing.
 */
export async function readPeriods(
  deps: ActivityDeps,
  configured: InstallationConfig,
  { signal, pause }: Pick<Heartbeat, 'signal' | 'pause'>,
): Promise<void> {
  if (!deps.delivery || !givesNumbers(configured.erp)) return;
  const clock = { now: Date.now, elapsed: () => performance.now(), sleep: pause };
  const target = pacedTarget(deps.delivery.target(configured), { db: deps.db, clock });
  try {
    await refreshPeriods(deps.db, target, signal);
  } catch (error) {
    if (!(error instanceof ErpError)) throw error;
    deps.log.warn(
      { installation: configured.id, code: error.problem ?? error.means },
      `the ERP’s periods could not be read: ${error.message}`,
    );
  }
}
