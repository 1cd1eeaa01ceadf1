// Mutants of the delivery to an ERP.

import { mutants as ofRounds } from '../erp/rounds/mutants.ts';
import type { Mutant } from './mutants.ts';

export const mutants: Readonly<Record<string, Mutant>> = {
  'an error read as "nothing was created"': {
    faults: ofRounds['an error read as "nothing was created"'] ?? [],
    traits: { erp: 'fortnox', erpFaults: 0.3 },
    seed: 3,
  },
  'a look-up before the server can be done': {
    faults: ofRounds['a look-up before the server can be done'] ?? [],
    traits: { erp: 'fortnox', erpFaults: 0.3 },
    seed: 1,
  },
};
