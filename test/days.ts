// Plays tests on awkward days: a test that depends on the real day fails on one of them.
// Run: `npm run test:days -- [FILE…]`; without files, it plays those of `npm test` in which the day matters.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFiles } from './projects.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const projects = ['unit', 'db', 'system'].flatMap((name) => ['--project', name]);

/** Instants at which a run begins; the clinics are in Europe/Helsinki. No run begins shortly before midnight, because it would have two days. */
export const awkwardDays: Readonly<Record<string, string>> = {
  'the end of a month': '2026-11-30T19:00:00Z',
  '1 January': '2026-12-31T22:02:00Z',
  'the clock change in spring': '2027-03-28T00:58:00Z',
  'the clock change in autumn': '2027-10-31T00:58:00Z',
  '29 February': '2028-02-29T09:00:00Z',
};

/** The files of `npm test` that name a clock or today, or run a clinic. The day does not matter in others. */
export function datedFiles(): string[] {
  const { unit, db, system } = testFiles(root);
  const dated = /\b(today|clockFrom|startTestClinic|MirroredClinic)\b|\bnew Date\(\)|\bDate\.now\(\)/;
  return [...unit, ...db, ...system].filter((file) => dated.test(readFileSync(join(root, file), 'utf8')));
}

/** Runs the test files on a day. `output` is what the run printed. */
export async function playOn(
  day: string,
  files: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number; output: string }> {
  // A run that a test starts has its own clock, not that of the test.
  const { VETLEDGER_TEST_CLOCK_MS: _moved, NODE_OPTIONS: _movesClock, ...rest } = env;
  const run = spawn(process.execPath, [vitest, 'run', ...projects, '--reporter=dot', ...files], {
    cwd: root,
    env: { ...rest, VETLEDGER_TEST_TODAY: day },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (part) => output.push(String(part)));
  const [code] = (await once(run, 'close')) as [number | null];
  return { code: code ?? 1, output: output.join('') };
}

if (import.meta.main) {
  const [, , ...given] = process.argv;
  const files = given.length > 0 ? given : datedFiles();
  for (const [name, day] of Object.entries(awkwardDays)) {
    const { code, output } = await playOn(day, files);
    console.log(`${name} (${day}): ${code === 0 ? 'passed' : 'failed'}`);
    if (code !== 0) console.log(output);
    if (code !== 0) process.exitCode = 1;
  }
}
