import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import type { LifeReport } from './life.ts';
import { isNoticed, type Mutant, mutants } from './mutants.ts';

const program = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The maximum number of lives, from the mutant's seed on, until one notices it. */
const mutantSeeds = 60;

describe('the judge notices a program with a mistake', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      expect(await firstNoticed(name, mutant)).not.toBeNull();
    },
    600_000,
  );
});

/** Plays lives with the mutant in a separate process. Returns the first that fails; null if none does. */
async function firstNoticed(name: string, { seed: first, given }: Mutant): Promise<LifeReport | null> {
  const own = await createTestDatabase();
  const worker = fork(program, [own.url, own.ownerUrl, name], { execArgv: [] });
  const ended = new Promise<never>((_, reject) => {
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  ended.catch(() => undefined);
  const answer = () =>
    Promise.race([new Promise<LifeReport>((resolve) => worker.once('message', resolve as never)), ended]);
  try {
    await answer();
    for (let seed = first; seed < first + mutantSeeds; seed++) {
      const reported = answer();
      worker.send({ seed, given });
      const report = await reported;
      if (isNoticed(report)) return report;
    }
    return null;
  } finally {
    worker.kill();
    await own.drop();
  }
}
