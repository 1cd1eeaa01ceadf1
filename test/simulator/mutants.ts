// Mutants of the program that lose, double, change or leave something. The lives must notice each mutant.
// mutants.test.ts plays lives from the mutant's seed on. `npm run simulate -- --mutants` compares each life with the
// same life without the mutant.

import { type Fault, injectFaults } from '../support/faults.ts';
import type { Given } from './lives.ts';
import { mutants as ofDelivery } from './mutants-delivery.ts';
import { mutants as ofSync } from './mutants-sync.ts';

export interface Mutant {
  faults: Fault[];
  /** The world and the traits with which the mutant shows soon. */
  given: Given & Required<Pick<Given, 'world'>>;
  /** The first seed of the search, to save time. */
  seed: number;
}

export const mutants: Readonly<Record<string, Mutant>> = { ...ofSync, ...ofDelivery };

/** From now on, modules that this process loads are those of the mutant. */
export function applyMutant(name: string): void {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`no mutant ${name}`);
  injectFaults(mutant.faults);
}

/** True if a condition failed; an error alone does not count. */
export function isNoticed({ wrong }: { wrong: readonly string[] }): boolean {
  return wrong.some((one) => !one.includes(' failed: '));
}
