// Broken variants of the program, each a mistake that shows only where something goes wrong between two calls: lives have to notice
// each.

import { mutants as ofDelivery } from '../../erp/rounds/mutants.ts';
import { type Fault, faultsIn, injectFaults } from '../../support/faults.ts';
import type { Traits } from './life.ts';

const src = (path: string) => new URL(`../../../src/${path}`, import.meta.url);
const inLease = faultsIn<typeof import('../../../src/db/lease.ts')>(src('db/lease.ts'));
export interface Mutant {
  faults: Fault[];
  /** By which it makes a difference soon. */
  traits: Partial<Traits>;
}

export const mutants: Record<string, Mutant> = {
  'an error read as "nothing was created"': {
    faults: ofDelivery['an error read as "nothing was created"'] ?? [],
    traits: { erp: 'fortnox', erpFaults: 0.3 },
  },
  'a look-up before the server can be done': {
    faults: ofDelivery['a look-up before the server can be done'] ?? [],
    traits: { erp: 'fortnox', erpFaults: 0.3 },
  },
  'a lease that is never given back': {
    faults: [inLease({ releaseLease: () => async () => undefined })],
    traits: { erp: null },
  },
};

/** Has what this process loads from here on be the mutant; the traits by which it shows. */
export function applyMutant(name: string): Partial<Traits> {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`no mutant ${name}`);
  injectFaults(mutant.faults);
  return mutant.traits;
}
