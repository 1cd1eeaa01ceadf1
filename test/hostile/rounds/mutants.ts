// Broken variants of the program: the rounds have to notice each.

import { type Fault, faultsIn, injectFaults } from '../../support/faults.ts';

const src = (path: string) => new URL(`../../../src/${path}`, import.meta.url);
const inDivide = faultsIn<typeof import('../../../src/domain/divide-failed.ts')>(src('domain/divide-failed.ts'));
const inLimits = faultsIn<typeof import('../../../src/records/limits.ts')>(src('records/limits.ts'));
const inSavePage = faultsIn<typeof import('../../../src/mirror/save-page.ts')>(src('mirror/save-page.ts'));
const inOutbox = faultsIn<typeof import('../../../src/writeback/outbox.ts')>(src('writeback/outbox.ts'));

const inProofs = faultsIn<typeof import('../../../src/posting/proofs.ts')>(src('posting/proofs.ts'));
const inRefused = faultsIn<typeof import('../../../src/mirror/refused-records.ts')>(src('mirror/refused-records.ts'));
const inTenant = faultsIn<typeof import('../../../src/records/addresses.ts')>(src('records/addresses.ts'));
const inUnusable = faultsIn<typeof import('../../../src/records/unusable.ts')>(src('records/unusable.ts'));
const inAbsence = faultsIn<typeof import('../../../src/documents/missing-documents.ts')>(
  src('documents/missing-documents.ts'),
);

const longAgo = new Date('2000-01-01T00:00:00Z');

export const mutants: Record<string, Fault[]> = {
  'divides no batch that fails': [
    inDivide({
      divideFailed: () => async (_items, error) => {
        throw error;
      },
    }),
  ],
  'takes no record for too large': [inLimits({ excessOf: () => () => null })],
  'takes what is not shown for gone': [inAbsence({ inForceOf: () => async () => new Set() })],
  'believes the answer of a write': [inOutbox({ unreadWriteBacks: () => async () => [] })],
  'takes no answer for later': [
    inSavePage({
      savePage: (real) => (trx, scope, kind, page, findOwnEchoes) =>
        real.savePage(
          trx,
          scope,
          kind,
          { ...page, sourceTime: longAgo, askedAt: longAgo, answeredAt: longAgo },
          findOwnEchoes,
        ),
    }),
  ],
  'fails the page of a record without an id': [inUnusable({ unusableOf: () => () => null })],
  'reads of an address its number alone': [
    inTenant({ readAddress: () => (address) => /(\d+)\/?$/.exec(address.split(/[?#]/)[0] ?? '')?.[1] }),
  ],
  'believes the last of two versions': [
    inRefused({ refusedIn: () => () => new Map(), contradictedIn: () => () => [] }),
  ],
  'posts amounts of any size': [
    inProofs({ provePlausible: () => () => undefined, provePlausibleInvoice: () => () => undefined }),
  ],
};

/** Has what this process loads from here on be the mutant. */
export function applyMutant(name: string): void {
  const faults = mutants[name];
  if (!faults) throw new Error(`no mutant ${name}`);
  injectFaults(faults);
}
