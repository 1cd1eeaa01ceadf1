import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { isNoticed, type LifeReport, live } from './life.ts';
import { mutants, patched } from './mutants.ts';

const { db } = useDatabase();
/** So many lives show a mutant at the latest. */
const mutantSeeds = 100;
/** A few of the lives of `npm run chaos`, none with a large list. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

describe('the mirror follows a source that does everything such a server does', () => {
  test.each(seeds)('nothing missing and nothing wrong, seed %i', async (seed) => {
    const report = await live(db, seed, seed);
    expect(report.wrong).toEqual([]);
    expect(report.windows).toBeGreaterThan(2);
  });

  test('a life is the same whenever it is lived', async () => {
    expect(await live(db, 4, 1001)).toEqual(await live(db, 4, 1002));
  });
});

describe('the oracle notices a sync that loses records', () => {
  test('each mutant changes the source text in just one place', () => {
    for (const patches of Object.values(mutants)) {
      for (const [file, some] of Map.groupBy(patches, (patch) => patch.file)) {
        const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
        expect(patched(text, some)).not.toBe(text);
      }
    }
  });

  // Where each shows at once; a changed sync asks other questions, so that a later seed may be the first to show it.
  const shows: Record<string, number> = {
    'cursor = the highest id seen': 67,
    'settled judged when the question is asked': 67,
    'overlap 0': 2,
    'ascending order trusted': 2,
    'an older answer overwrites a newer one': 47,
    'rows accepted within the second of modified': 175,
  };
  test.each(Object.entries(shows))(
    '%s',
    async (name, from) => {
      expect(await firstNoticed(name, from)).not.toBeNull();
    },
    180_000,
  );
  test('none is left out', () => expect(Object.keys(shows)).toEqual(Object.keys(mutants)));
});

/** The first life that goes wrong, in a process of its own, which loads the mutant instead of the sync; null when none does. */
async function firstNoticed(mutant: string, from: number): Promise<LifeReport | null> {
  const own = await createTestDatabase();
  const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [own.url, mutant], { execArgv: [] });
  const ended = new Promise<never>((_, reject) => {
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  ended.catch(() => {});
  try {
    for (let seed = from; seed < from + mutantSeeds; seed++) {
      const reported = new Promise<LifeReport>((resolve) => {
        worker.once('message', (report: LifeReport) => resolve(report));
      });
      worker.send({ seed });
      const report = await Promise.race([reported, ended]);
      if (isNoticed(report)) return report;
    }
    return null;
  } finally {
    worker.kill();
    await own.drop();
  }
}
