// npm run simulate -- --posting --mutants: runs each mutant of posting and of the rule of matches, and prints the life that finds
// it. It fails if one is not found.
import { LifeFailure, live } from './life.ts';
import { firstWrongMatch, matchingMutants } from './matching.ts';
import { mutants, rareMutants } from './mutants.ts';

const mostSeeds = 60;

/** The exit code is 1 if a mutant survives all lives. */
export function runMutants(steps: number): number {
  let survivors = 0;
  for (const [name, post] of Object.entries({ ...mutants, ...rareMutants })) {
    const began = performance.now();
    const found = firstFailure(post, mostSeeds, steps);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const where = found ? `seed ${found.seed}, step ${found.step}, ${found.equation}` : 'NOT FOUND';
    console.log(`${name}: ${where} (${seconds} s)`);
    if (!found) survivors += 1;
  }
  const seeds = Array.from({ length: mostSeeds }, (_, at) => at + 1);
  for (const [name, rule] of Object.entries(matchingMutants)) {
    const found = firstWrongMatch(rule, seeds);
    console.log(`${name}: ${found ?? 'NOT FOUND'}`);
    if (found === null) survivors += 1;
  }
  console.log(`${survivors} mutants not found`);
  return survivors === 0 ? 0 : 1;
}

/** Runs lives until a check fails, at most for this number of seeds. Returns the failure or null. */
export function firstFailure(post: (typeof mutants)[string], seeds: number, steps: number): LifeFailure | null {
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      live({ seed, steps, post });
    } catch (error) {
      if (error instanceof LifeFailure) return error;
      throw error;
    }
  }
  return null;
}
