// Broken variants of delivery, each a mistake that loses, doubles or changes entries: rounds have to notice each.

import { type Fault, injectFaults } from '../../support/faults.ts';
import type { RoundOptions } from './round.ts';

export const mutants: Record<string, Fault[]> = {};

/** Rounds in which a mutant's mistake shows soon: the records and traits by which it makes a difference. */
export function roundsOf(_mutant: string): RoundOptions {
  return {};
}

/** Has what this process loads from here on be the mutant. */
export function applyMutant(name: string): void {
  const faults = mutants[name];
  if (!faults) throw new Error(`no mutant ${name}`);
  injectFaults(faults);
}
