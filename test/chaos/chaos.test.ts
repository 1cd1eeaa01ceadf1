import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Db, migrate, openDatabase } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type LifeReport, live } from './life.ts';
import { mutants, patched } from './mutants.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url);
  await migrate(db);
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

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

  // Seeds that show each of them; `npm run chaos -- --mutants` looks for others.
  const noticed: Record<keyof typeof mutants, number[]> = {
  };
  test.each(Object.entries(noticed))('%s', async (name, some) => {
    const reports = await livesOf(name, some);
    const wrong = reports.flatMap((report) => report.wrong).filter((one) => !one.includes(' failed: '));
    expect(wrong).not.toEqual([]);
  });
  test('none is left out', () => expect(Object.keys(noticed)).toEqual(Object.keys(mutants)));
});

/** Lives in a process of their own, which loads the mutant instead of the sync. */
async function livesOf(mutant: string, some: number[]): Promise<LifeReport[]> {
  const own = await createTestDatabase();
  const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [own.url, mutant], { execArgv: [] });
  try {
    const reports: LifeReport[] = [];
    for (const seed of some) {
      const reported = new Promise<LifeReport>((resolve, reject) => {
        worker.once('message', (report: LifeReport) => resolve(report));
        worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
      });
      worker.send({ seed });
      reports.push(await reported);
    }
    return reports;
  } finally {
    worker.kill();
    await own.drop();
  }
}
