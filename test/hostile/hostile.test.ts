import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { mutants } from './rounds/mutants.ts';
import { playRound, prepareDatabase, type RoundReport } from './rounds/round.ts';

const { db, owner } = useDatabase();
/** A few of the rounds of `npm run hostile`. */
const seeds = [1, 2, 3, 5, 8];
/** So many rounds show a mutant at the latest. */
const mutantSeeds = 12;

describe('a hostile server and hostile neighbours', () => {
  beforeAll(() => prepareDatabase({ db, owner }));
  test.each(seeds)('the books are right, every culprit is named, nothing else is late, seed %i', async (seed) => {
    const { wrong, story, windows } = await playRound({ db, owner }, seed, seed);
    expect(wrong, story.join('\n')).toEqual([]);
    expect(windows).toBeGreaterThan(4);
  });
});

describe('the rounds notice a program that', () => {
  // Where to begin, for speed alone: the search goes on from there.
  const from: Record<string, number> = {
    'divides no batch that fails': 3,
    'takes no record for too large': 2,
    'takes what is not shown for gone': 1,
    'believes the answer of a write': 1,
    'takes no answer for later': 1,
    'fails the page of a record without an id': 1,
    'reads of an address its number alone': 1,
    'believes the last of two versions': 1,
    'posts amounts of any size': 1,
  };
  test.each(Object.entries(from))(
    '%s',
    async (name, seed) => {
      expect(await firstNoticed(name, seed)).not.toBeNull();
    },
    180_000,
  );
  test('has any of the mutants’ mistakes: none is left out', () =>
    expect(Object.keys(from)).toEqual(Object.keys(mutants)));
});

/** The first round that fails, in a process of its own, whose program is the mutant; null when none does. */
async function firstNoticed(mutant: string, from: number): Promise<RoundReport | null> {
  const own = await createTestDatabase();
  const program = fileURLToPath(new URL('./rounds/worker.ts', import.meta.url));
  const worker = fork(program, [own.url, own.ownerUrl, mutant], { execArgv: [] });
  const ended = new Promise<never>((_, reject) => {
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  ended.catch(() => {});
  try {
    for (let seed = from; seed < from + mutantSeeds; seed++) {
      const reported = new Promise<RoundReport>((resolve) => {
        worker.once('message', (report: RoundReport) => resolve(report));
      });
      worker.send({ seed });
      const report = await Promise.race([reported, ended]);
      if (report.wrong.length > 0) return report;
    }
    return null;
  } finally {
    worker.kill();
    await own.drop();
  }
}
