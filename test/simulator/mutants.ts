// Broken variants of the program, each a mistake that loses, doubles, changes or leaves something. Lives have to notice each:
// mutants.test.ts looks from its seed on, and `npm run simulate -- --mutants` compares it with the same life without the mutant.

import { type Fault, injectFaults } from '../support/faults.ts';
import { mutants as ofDelivery } from './mutants-delivery.ts';
import { mutants as ofSync } from './mutants-sync.ts';
import type { Traits } from './traits.ts';

export interface Mutant {
  faults: Fault[];
  /** With these traits the mistake makes a difference soon. */
  traits: Partial<Traits>;
  /** The search for a life that notices it begins here, for speed alone. */
  seed: number;
}

export const mutants: Readonly<Record<string, Mutant>> = { ...ofSync, ...ofDelivery };

/** Has the modules that this process loads from here on be those of the mutant. */
export function applyMutant(name: string): void {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`no mutant ${name}`);
  injectFaults(mutant.faults);
}

/** Something is missing or wrong; an error alone does not count. */
export function isNoticed({ wrong }: { wrong: readonly string[] }): boolean {
  return wrong.some((one) => !one.includes(' failed: '));
}
