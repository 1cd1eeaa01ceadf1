import type { Logger } from 'pino';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Clock } from '../../domain/clock.ts';
import { ConfigError } from '../../domain/errors.ts';
import type { ErpTarget } from '../port.ts';
import { openOdoo } from './odoo/index.ts';
import { openTryton } from './tryton/index.ts';

export interface TargetPorts {
  clock: Clock;
  log: Logger;
}

/** The target that an installation's configuration names. Throws ConfigError for a kind that cannot be delivered to. */
export function openTarget({ erp }: InstallationConfig, ports: TargetPorts): ErpTarget {
  if (erp.kind === 'tryton') return openTryton(erp, ports);
  if (erp.kind === 'odoo') return openOdoo(erp, ports);
  throw new ConfigError({
    code: 'erp_kind_unknown',
    message: `This version does not deliver to an ERP of kind ${erp.kind}.`,
    todo: 'Set erp.kind of the installation to one of those that docs/reference/CLI.md lists.',
  });
}
