import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { isNoticed, type LifeReport, live } from './life.ts';
import { livesOf, mutants } from './mutants.ts';

const { db } = useDatabase();
/** So many lives show a mutant at the latest. */
const mutantSeeds = 100;
/** A few of the lives of `npm run chaos`, none with a large list; in 42 a restored backup takes a row from an invoice of the last hour. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 42];

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
  // Where to begin, for speed alone: a changed sync asks other questions, so the search goes on from there.
  const from: Record<string, number> = {
    'cursor = the highest id seen': 1,
    'settled judged when the question is asked': 1,
    'what is not shown any more is gone': 1,
    'overlap 0': 2,
    'ascending order trusted': 1,
    'an older answer overwrites a newer one': 1,
    'the later modified always wins': 9,
    'watermark = source time alone': 1,
    'no question again after a clock was put back': 1,
    'rows accepted within the second of modified': 1,
    'records without an id are named nowhere': 1,
  };
  test.each(Object.entries(from))(
    '%s',
    async (name, seed) => {
      expect(await firstNoticed(name, seed)).not.toBeNull();
    },
    180_000,
  );
  test.each(Object.entries(from).filter(([name]) => Object.keys(livesOf(name)).length > 0))(
    'and nothing wrong in the same lives without it: %s',
    async (name, seed) => {
      for (const each of [seed, seed + 1, seed + 2]) {
        expect(
          (await live(db, each, 2000 + 100 * Object.keys(from).indexOf(name) + each, livesOf(name))).wrong,
        ).toEqual([]);
      }
    },
    60_000,
  );
  test('none is left out', () => expect(Object.keys(from)).toEqual(Object.keys(mutants)));
});

/** The first life that goes wrong, in a process of its own, whose sync is the mutant; null when none does. */
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
