import type { Logger } from 'pino';
import { type ErpConfig, isApiTarget } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Clock } from '../../domain/clock.ts';
import { ConfigError } from '../../domain/errors.ts';
import { deliveryErrors } from '../../texts/errors/deliveries.ts';
import { reliedOn } from '../cautious.ts';
import type { LoginPorts } from '../login/server.ts';
import { measuredRecord } from '../measured.ts';
import type { ErpTarget } from '../port.ts';
import { openFortnox } from './fortnox/index.ts';
import { openNetvisor } from './netvisor/index.ts';
import { openOdoo } from './odoo/index.ts';
import { openProcountor } from './procountor/index.ts';
import { provenanceOf } from './provenance.ts';
import { openTryton } from './tryton/index.ts';
import { openXero } from './xero/index.ts';

export interface TargetPorts {
  clock: Clock;
  log: Logger;
  /** Where logins are stored, and their keys. */
  logins: Pick<LoginPorts, 'db' | 'keys'>;
}

/**
 * Opens the target that an installation's configuration names. Deliveries rely on its record only as far as it was
 * measured. Throws ConfigError for an unknown kind.
 */
export function openTarget({ erp }: InstallationConfig, ports: TargetPorts): ErpTarget {
  const target = opened(erp, ports);
  if (!isApiTarget(erp)) return target;
  const { capabilities: own } = target;
  const record = erp.measured === undefined ? own : measuredRecord(own, erp.measured.facts);
  return Object.assign(target, { capabilities: reliedOn(provenanceOf(erp), record) });
}

function opened(erp: ErpConfig, ports: TargetPorts): ErpTarget {
  switch (erp.kind) {
    case 'tryton':
      return openTryton(erp, ports);
    case 'odoo':
      return openOdoo(erp, ports);
    case 'procountor':
      return openProcountor(erp, ports);
    case 'xero':
      return openXero(erp, ports);
    case 'netvisor':
      return openNetvisor(erp, ports);
    case 'fortnox':
      return openFortnox(erp, ports);
    case 'ledger':
    case 'csv':
    case 'sie4':
    case 'datev':
      throw new ConfigError(deliveryErrors.kindUnknown({ kind: erp.kind }));
  }
}
