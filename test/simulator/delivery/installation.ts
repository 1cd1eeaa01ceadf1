// An installation whose entries are delivered to a fake ERP.

import { loadDialect } from '../../../src/config/dialect.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { mappingData } from './plan.ts';

/** Each `n` has another company in the ERP. `words`: its codes in the mapping, if they are not the usual ones. */
export function installationOf(id: number, n: number, words: object = {}): InstallationConfig {
  const parsed = parseMapping({ ...mappingData, erp: { ...mappingData.erp, ...words } });
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  return {
    ...{ id, name: null, baseUrl: 'http://practice.invalid', auth: { token: 'none' }, timezone: 'Europe/Helsinki' },
    ...{ currency: 'EUR', decimals: 2, startDate: null, mappingPath: '', mapping: parsed.mapping, mappingHash: 'one' },
    mappingFile: { hash: 'one', content: '{}' },
    erp: {
      ...{ kind: 'tryton', from: null, auto: true, url: 'http://erp.invalid', database: `company-${n}`, company: null },
      ...{ user: 'api', password: 'none', post: 'posted', ownedAccounts: [], closeSourcePeriods: false },
      timeoutSeconds: 60,
    },
    ...{
      postingMode: 'document',
      fiscalYearStart: 1,
      rateWindowSeconds: 60,
      overlapSeconds: 600,
      scrubDays: 0,
      scrubMinShare: 0,
    },
    ...{ clockSkewLimitSeconds: 60, keepRaw: 'mapped', dialect: loadDialect() },
  };
}
