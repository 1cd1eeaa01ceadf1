// Mutants of the program that lose, double or abandon something when processes die. Rounds must notice each.

import { mutants as ofDelivery } from '../../simulator/mutants-delivery.ts';
import { type Fault, faultsIn } from '../../support/faults.ts';

const src = (path: string) => new URL(`../../../src/${path}`, import.meta.url);
const inLease = faultsIn<typeof import('../../../src/db/lease.ts')>(src('db/lease.ts'));
const inCursors = faultsIn<typeof import('../../../src/sync/cursors.ts')>(src('sync/cursors.ts'));
const inEntryIds = faultsIn<typeof import('../../../src/writeback/entry-ids.ts')>(src('writeback/entry-ids.ts'));
const inOutbox = faultsIn<typeof import('../../../src/writeback/outbox.ts')>(src('writeback/outbox.ts'));

/** More than the overlap covers. */
const tooFarMs = 3_600_000;

export interface Mutant {
  faults: Fault[];
  /** The ERP of the rounds that show the mutant; null for rounds without one. */
  erp: string | null;
}

export const mutants: Record<string, Mutant> = {
  'an error read as "nothing was created"': {
    faults: ofDelivery['an error read as "nothing was created"']?.faults ?? [],
    erp: 'fortnox',
  },
  'a lease that is never given back': {
    faults: [inLease({ releaseLease: () => async () => undefined })],
    erp: null,
  },
  'a watermark that moves too far': {
    faults: [
      inCursors({
        moveCursors: (real) => (db, installation, moves) =>
          real.moveCursors(
            db,
            installation,
            moves.map(({ value: { watermark, ...value }, ...move }) => {
              const far = watermark && new Date(Date.parse(watermark) + tooFarMs).toISOString();
              return { ...move, value: { ...value, ...(far ? { watermark: far } : {}) } };
            }),
          ),
      }),
    ],
    erp: null,
  },
  'the answer of a write-back is believed': {
    faults: [inOutbox({ unreadWriteBacks: () => async () => [] })],
    erp: null,
  },
  'a write-back that is left out': {
    faults: [inEntryIds({ writeBackEntryIds: () => async () => ({ confirmed: 0, unconfirmed: 0 }) })],
    erp: null,
  },
};
