import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimulatedDatabase } from '../simulator/database.ts';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { mutants } from './rounds/mutants.ts';
import { playRound, prepareDatabase, type RoundReport } from './rounds/round.ts';

/** A few of the rounds of `npm run chaos -- --erp fake`. */
const seeds = [2, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 18];
/** So many rounds show a mutant at the latest. */
const mutantRounds = 40;

describe('every entry is in the ERP once and as it was sent, or refused for a reason', () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  beforeAll(() => prepareDatabase({ owner }));
  afterAll(() => simulated.close());

  test.each(seeds)('seed %i', async (seed) => {
    const report = await playRound({ owner, simulated }, seed, seed);
    expect(report.wrong).toEqual([]);
    expect(report.delivered).toBeGreaterThan(0);
  });
});

describe('the rounds notice a delivery that loses, doubles or changes entries', () => {
  // Where to begin, for speed alone.
  const from: Record<string, number> = {
    'an error read as "nothing was created"': 1,
    'an incomplete look-up read as absence': 10,
    'a look-up before the server can be done': 1,
    'a success code believed without read-back': 1,
    'a known id written to again': 1,
    'a refused entry that blocks its batch': 2,
    'a correction sent before what it corrects': 1,
    'a restart that refills a day’s limit': 1,
    'a take-over that does not wait': 1,
    'no sweep of drafts that came late': 1,
    'another database’s entries not looked at': 1,
  };
  test.each(Object.entries(from))(
    '%s',
    async (name, seed) => {
      expect(await firstNoticed(name, seed)).not.toBeNull();
    },
    180_000,
  );
  test('none is left out', () => expect(Object.keys(from)).toEqual(Object.keys(mutants)));
});

/** The first round that goes wrong, in a process of its own, whose delivery is the mutant; null when none does. */
async function firstNoticed(mutant: string, from: number): Promise<RoundReport | null> {
  const own = await createTestDatabase();
  const worker = fork(fileURLToPath(new URL('./rounds/worker.ts', import.meta.url)), [own.url, own.ownerUrl, mutant], {
    execArgv: [],
  });
  const ended = new Promise<never>((_, reject) => {
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  ended.catch(() => undefined);
  const answer = () =>
    Promise.race([new Promise<RoundReport>((resolve) => worker.once('message', resolve as never)), ended]);
  try {
    await answer();
    for (let seed = from; seed < from + mutantRounds; seed++) {
      const reported = answer();
      worker.send({ seed });
      const report = await reported;
      if (report.wrong.some((one) => !one.includes(' failed: '))) return report;
    }
    return null;
  } finally {
    worker.kill();
    await own.drop();
  }
}
