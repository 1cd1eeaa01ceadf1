/**
 * The number of runs of a test with random input: all of them in the nightly tests, a fifth in `npm test`. The project `nightly` also has
 * the files that import this (test/projects.ts).
 */
export function runs(all: number): number {
  return process.env.VETLEDGER_TEST_RUNS === 'all' ? all : Math.ceil(all / 5);
}
