// Mutants of the delivery to an ERP.

import { randomUUID } from 'node:crypto';
import { type Fault, faultsIn } from '../support/faults.ts';
import { query } from '../support/sql.ts';
import type { Mutant } from './mutants.ts';
import { noTroubles } from './traits.ts';

const inStrategy = faultsIn<typeof import('../../src/erp/strategy.ts')>(
  new URL('../../src/erp/strategy.ts', import.meta.url),
);
const inClassify = faultsIn<typeof import('../../src/erp/deliver/classify.ts')>(
  new URL('../../src/erp/deliver/classify.ts', import.meta.url),
);
const inCompare = faultsIn<typeof import('../../src/erp/compare.ts')>(
  new URL('../../src/erp/compare.ts', import.meta.url),
);
const inClaim = faultsIn<typeof import('../../src/erp/outbox/claim-units.ts')>(
  new URL('../../src/erp/outbox/claim-units.ts', import.meta.url),
);
const inSweep = faultsIn<typeof import('../../src/erp/outbox/unwanted-drafts.ts')>(
  new URL('../../src/erp/outbox/unwanted-drafts.ts', import.meta.url),
);
const inAttempt = faultsIn<typeof import('../../src/erp/deliver/attempt.ts')>(
  new URL('../../src/erp/deliver/attempt.ts', import.meta.url),
);
const inLease = faultsIn<typeof import('../../src/erp/company-lease.ts')>(
  new URL('../../src/erp/company-lease.ts', import.meta.url),
);

const inCautious = faultsIn<typeof import('../../src/erp/cautious.ts')>(
  new URL('../../src/erp/cautious.ts', import.meta.url),
);
const inClaims = faultsIn<typeof import('../../src/erp/claims/claim-store.ts')>(
  new URL('../../src/erp/claims/claim-store.ts', import.meta.url),
);

const minuteMs = 60_000;
/** Lives of deliveries without faults. */
const quiet: Mutant['given'] = {
  ...{ world: 'delivery', documents: 12, installations: 1, processes: 1, faults: 0, slow: 0, late: 0, flawShare: 0 },
  ...{ locks: 0, outages: 0, troubles: noTroubles, timeoutMs: 5_000, troubleMs: 20 * minuteMs, dayLimit: null },
  ...{ maxEntries: null, rival: 0 },
};
const ofInstallation: Mutant['given'] = { world: 'installation', erp: 'fortnox', erpFaults: 0.3 };

const errorIsAbsence: Fault[] = [
  inStrategy({
    verdictOf: (real) => (failure, strategy) => ({ ...real.verdictOf(failure, strategy), units: 'again', waitMs: 0 }),
  }),
  // The mutant resets the count of attempts, so units are sent again without a look-up.
  inClaim({
    claimDue: (real) => async (db, scope, limit) => {
      await query(db, `update erp_unit set attempts = 0 where installation = ?`, [scope.installation]);
      return real.claimDue(db, scope, limit);
    },
  }),
];
const earlyLookUp: Fault[] = [
  inStrategy({ strategyOf: (real) => (capabilities) => ({ ...real.strategyOf(capabilities), lookUpAfterMs: 0 }) }),
];

export const mutants: Readonly<Record<string, Mutant>> = {
  'an error read as "nothing was created"': {
    faults: errorIsAbsence,
    given: { ...quiet, erp: 'fortnox', faults: 0.4 },
    seed: 1,
  },
  'an incomplete look-up read as absence': {
    faults: [
      inClassify({
        classify: (real) => (entry, found, options) => real.classify(entry, found, { ...options, isComplete: true }),
      }),
    ],
    given: { ...quiet, erp: 'fortnox', faults: 0.4 },
    seed: 34,
  },
  'a look-up before the server can be done': {
    faults: earlyLookUp,
    given: { ...quiet, erp: 'fortnox', slow: 0.4 },
    seed: 1,
  },
  'a success code believed without read-back': {
    faults: [inCompare({ compareEntry: () => () => [] })],
    given: { ...quiet, erp: 'exact', flawShare: 0.5 },
    seed: 1,
  },
  'a known id written to again': {
    faults: [
      inClassify({
        classify: (real) => (entry, found, options) => {
          const finding = real.classify(entry, found, options);
          return finding.is === 'unknown' ? finding : { is: 'absent', surplus: [], differs: null };
        },
      }),
    ],
    given: { ...quiet, erp: 'overwriting', faults: 0.4 },
    seed: 1,
  },
  'a refused entry that blocks its batch': {
    faults: [
      inStrategy({
        verdictOf: (real) => (failure, strategy) => ({ ...real.verdictOf(failure, strategy), isHalved: false }),
      }),
    ],
    given: { ...quiet, erp: 'tryton', documents: 8, flawShare: 0.5, troubleMs: minuteMs },
    seed: 2,
  },
  'a correction sent before what it corrects': {
    faults: [
      inClaim({
        claimDue: (real) => async (db, scope, limit) => {
          await query(db, `update erp_unit set follows = null where installation = ?`, [scope.installation]);
          return real.claimDue(db, scope, limit);
        },
      }),
    ],
    given: { ...quiet, erp: 'fortnox', documents: 20, flawShare: 0.5, faults: 0.1, troubleMs: 5 * minuteMs },
    seed: 1,
  },
  'a repeated request with a new id': {
    faults: [inAttempt({ attemptIdOf: () => () => randomUUID() })],
    given: { ...quiet, erp: 'netvisor', faults: 0.4 },
    seed: 1,
  },
  'a restart that refills a day’s limit': {
    faults: [
      inClaim({
        followConfiguration: (real) => async (trx, scope, options) => {
          await query(trx, 'delete from erp_request where company = ?', [scope.company]);
          await real.followConfiguration(trx, scope, options);
        },
      }),
    ],
    given: { ...quiet, erp: 'fortnox', dayLimit: 30 },
    seed: 1,
  },
  'a take-over that does not wait': {
    faults: [
      inLease({
        takeCompany: (real) => (db, ref, holder) => real.takeCompany(db, ref, holder, { mayWorkMs: 0 }),
      }),
    ],
    given: {
      ...{ ...quiet, erp: 'fortnox', slow: 0.9, timeoutMs: 100_000, troubleMs: 60 * minuteMs },
      troubles: { ...noTroubles, diesSending: 0.3 },
    },
    seed: 1,
  },
  'no sweep of drafts that came late': {
    faults: [inSweep({ claimSweeps: () => async () => [] })],
    given: { ...quiet, erp: 'tryton', late: 0.5 },
    seed: 1,
  },
  'an assumption taken for a fact': {
    faults: [inCautious({ cautious: () => (capabilities) => capabilities })],
    given: { world: 'matrix', erp: 'like netvisor', troubles: noTroubles, processes: 1, installations: 1 },
    seed: 10,
  },
  'a request repeated at once, whatever the ERP does with its id': {
    faults: [
      inStrategy({
        strategyOf: (real) => (capabilities) => ({ ...real.strategyOf(capabilities), repeatsAtOnce: true }),
      }),
    ],
    given: { world: 'matrix', erp: 'like xero', troubles: noTroubles, processes: 1, installations: 1 },
    seed: 10,
  },
  'another database’s entries not looked at': {
    faults: [inClaims({ foreignIn: () => async () => [] })],
    given: { ...quiet, erp: 'fortnox', rival: 0.5 },
    seed: 1,
  },
  'an error read as "nothing was created", by an installation': {
    faults: errorIsAbsence,
    given: ofInstallation,
    seed: 3,
  },
  'a look-up before the server can be done, by an installation': {
    faults: earlyLookUp,
    given: ofInstallation,
    seed: 1,
  },
};
