// Broken variants of delivery, each a mistake that loses, doubles or changes entries: rounds have to notice each.

import { type Fault, faultsIn, injectFaults } from '../../support/faults.ts';
import { query } from '../../support/sql.ts';
import type { RoundOptions, Traits } from './round.ts';

const inStrategy = faultsIn<typeof import('../../../src/erp/strategy.ts')>(
  new URL('../../../src/erp/strategy.ts', import.meta.url),
);
const inClassify = faultsIn<typeof import('../../../src/erp/deliver/classify.ts')>(
  new URL('../../../src/erp/deliver/classify.ts', import.meta.url),
);
const inCompare = faultsIn<typeof import('../../../src/erp/compare.ts')>(
  new URL('../../../src/erp/compare.ts', import.meta.url),
);
const inClaim = faultsIn<typeof import('../../../src/erp/outbox/claim-units.ts')>(
  new URL('../../../src/erp/outbox/claim-units.ts', import.meta.url),
);
const inSweep = faultsIn<typeof import('../../../src/erp/outbox/unwanted-drafts.ts')>(
  new URL('../../../src/erp/outbox/unwanted-drafts.ts', import.meta.url),
);
const inLease = faultsIn<typeof import('../../../src/erp/company-lease.ts')>(
  new URL('../../../src/erp/company-lease.ts', import.meta.url),
);

const inClaims = faultsIn<typeof import('../../../src/erp/claims/claim-store.ts')>(
  new URL('../../../src/erp/claims/claim-store.ts', import.meta.url),
);

export const mutants: Record<string, Fault[]> = {
  'an error read as "nothing was created"': [
    inStrategy({
      verdictOf: (real) => (failure, strategy) => ({ ...real.verdictOf(failure, strategy), units: 'again', waitMs: 0 }),
    }),
    // Sent as if for the first time: only what was tried before is looked up.
    inClaim({
      claimDue: (real) => async (db, scope, limit) => {
        await query(db, `update erp_unit set attempts = 0 where installation = ?`, [scope.installation]);
        return real.claimDue(db, scope, limit);
      },
    }),
  ],
  'an incomplete look-up read as absence': [
    inClassify({
      classify: (real) => (entry, found, options) => real.classify(entry, found, { ...options, isComplete: true }),
    }),
  ],
  'a look-up before the server can be done': [
    inStrategy({ strategyOf: (real) => (capabilities) => ({ ...real.strategyOf(capabilities), lookUpAfterMs: 0 }) }),
  ],
  'a success code believed without read-back': [inCompare({ compareEntry: () => () => [] })],
  'a known id written to again': [
    inClassify({
      classify: (real) => (entry, found, options) => {
        const finding = real.classify(entry, found, options);
        return finding.is === 'unknown' ? finding : { is: 'absent', surplus: [], differs: null };
      },
    }),
  ],
  'a refused entry that blocks its batch': [
    inStrategy({
      verdictOf: (real) => (failure, strategy) => ({ ...real.verdictOf(failure, strategy), isHalved: false }),
    }),
  ],
  'a correction sent before what it corrects': [
    inClaim({
      claimDue: (real) => async (db, scope, limit) => {
        await query(db, `update erp_unit set follows = null where installation = ?`, [scope.installation]);
        return real.claimDue(db, scope, limit);
      },
    }),
  ],
  'a restart that refills a day’s limit': [
    inClaim({
      followConfiguration: (real) => async (trx, scope, options) => {
        await query(trx, 'delete from erp_request where company = ?', [scope.company]);
        await real.followConfiguration(trx, scope, options);
      },
    }),
  ],
  'a take-over that does not wait': [
    inLease({
      takeCompany: (real) => (db, ref, holder) => real.takeCompany(db, ref, holder, { mayWorkMs: 0 }),
    }),
  ],
  'no sweep of drafts that came late': [inSweep({ claimSweeps: () => async () => [] })],
  'another database’s entries not looked at': [inClaims({ foreignIn: () => async () => [] })],
};

const minute = 60_000;
const quiet: Partial<Traits> = {
  ...{ documents: 12, installations: 1, processes: 1, faults: 0, slow: 0, late: 0, flawShare: 0, locks: 0, outages: 0 },
  ...{
    troubles: { dies: 0, diesSending: 0, stands: 0 },
    timeoutMs: 5_000,
    troubleMs: 20 * minute,
    dayLimit: null,
    maxEntries: null,
    rival: 0,
  },
};

/** Rounds in which a mutant's mistake shows soon: the records and traits by which it makes a difference. */
export function roundsOf(mutant: string): RoundOptions {
  switch (mutant) {
    case 'an error read as "nothing was created"':
    case 'an incomplete look-up read as absence':
      return { record: 'fortnox', traits: { ...quiet, faults: 0.4 } };
    case 'a look-up before the server can be done':
      return { record: 'fortnox', traits: { ...quiet, slow: 0.4 } };
    case 'a success code believed without read-back':
      return { record: 'exact', traits: { ...quiet, flawShare: 0.5 } };
    case 'a known id written to again':
      return { record: 'overwriting', traits: { ...quiet, faults: 0.4 } };
    case 'a refused entry that blocks its batch':
      return { record: 'tryton', traits: { ...quiet, documents: 8, flawShare: 0.5, troubleMs: minute } };
    case 'a correction sent before what it corrects':
      return {
        record: 'fortnox',
        traits: { ...quiet, documents: 20, flawShare: 0.5, faults: 0.1, troubleMs: 5 * minute },
      };
    case 'a restart that refills a day’s limit':
      return { record: 'fortnox', traits: { ...quiet, dayLimit: 30 } };
    case 'a take-over that does not wait':
      return {
        record: 'fortnox',
        traits: {
          ...{ ...quiet, slow: 0.9, timeoutMs: 100_000, troubleMs: 60 * minute },
          troubles: { dies: 0, diesSending: 0.3, stands: 0 },
        },
      };
    case 'no sweep of drafts that came late':
      return { record: 'tryton', traits: { ...quiet, late: 0.5 } };
    case 'another database’s entries not looked at':
      return { record: 'fortnox', traits: { ...quiet, rival: 0.5 } };
    default:
      return {};
  }
}

/** Has what this process loads from here on be the mutant. */
export function applyMutant(name: string): void {
  const faults = mutants[name];
  if (!faults) throw new Error(`no mutant ${name}`);
  injectFaults(faults);
}
