// npm run differ -- REVISION [--worlds N] [--seed N] [--jobs N] [--keep FOLDER] [--self-test]
// Plays the same worlds with a worktree of that revision and with this checkout, and compares what users meet.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { hasTryton, programDir } from '../support/tryton.ts';
import { playSide, type Services, type Told } from './side.ts';
import { selfTestWorld, type World, worldOf } from './world.ts';

const here = fileURLToPath(new URL('../../', import.meta.url));
const shownLines = 60;
/** The changes that the self-test makes in the worktree, each with the command whose output shows it. */
const deliberate = [
  { find: "name: 'Card', role: 'card_clearing'", put: "name: 'Card', role: 'mobile_clearing'", shown: 'export' },
  { find: 'the rows add up to', put: 'the rows come to', shown: 'problems' },
];
const help = `npm run differ -- REVISION [options]

Plays the same worlds with a git worktree of REVISION and with this checkout as it is, through their command lines, and
compares books, problems, reconciliation, windows and exit codes. Exit code 0: nothing differs. 1: something does.

  --worlds N      how many worlds (default 200)
  --seed N        the seed of the first one; alone: only this world
  --jobs N        worlds at a time (default: one per processor)
  --keep FOLDER   leave what both sides printed in FOLDER
  --self-test     change an account and a text of a problem in the worktree, and see that both are noticed

  npm run differ -- HEAD                 # the check of the check: nothing differs
  npm run differ -- v0.1.0 --worlds 20   # a quick look
  npm run differ -- main --seed 17       # one world once more
  npm run differ -- HEAD --self-test     # exit code 0: the changes were noticed
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    worlds: { type: 'string' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    keep: { type: 'string' },
    'self-test': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [revision] = positionals;
const whole = (text: string) => Number.isSafeInteger(Number(text)) && Number(text) > 0;
const numbers = [values.worlds, values.seed, values.jobs].filter((text) => text !== undefined);
if (values.help || revision === undefined || positionals.length > 1 || !numbers.every(whole)) {
  console.error(help);
  process.exit(values.help ? 0 : 2);
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort(new Error('interrupted')));
const folder = mkdtempSync(join(tmpdir(), 'vetledger-differ-'));
process.exitCode = await differ(revision).catch((error: unknown) => {
  console.error(stop.signal.aborted ? 'interrupted' : error);
  return stop.signal.aborted ? 130 : 2;
});

async function differ(from: string): Promise<number> {
  const first = Number(values.seed ?? 1);
  const seeds = Array.from({ length: Number(values.worlds ?? (values.seed ? 1 : 200)) }, (_, at) => first + at);
  const releases: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const other = join(folder, 'checkout');
    releases.push(() => removeWorktree(other));
    addWorktree(from, other);
    const [postgres, temporal] = await Promise.all([startEphemeralPostgres(), startEphemeralTemporal()]);
    releases.push(postgres.release, temporal.release);
    const services = { url: postgres.url, ownerUrl: postgres.ownerUrl, temporal: temporal.address };
    if (values['self-test']) return await selfTest(services, other);
    const began = performance.now();
    const differing: number[] = [];
    const waiting = [...seeds];
    const work = async () => {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
        if ((await playWorld(worldOf(seed), services, other)).length > 0) differing.push(seed);
      }
    };
    const jobs = await Promise.allSettled(
      Array.from({ length: Number(values.jobs) }, () =>
        work().catch((error: unknown) => {
          stop.abort(error);
          throw error;
        }),
      ),
    );
    for (const job of jobs) if (job.status === 'rejected') throw job.reason;
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    console.log(`${seeds.length} worlds in ${minutes} minutes: ${differing.length} differ`);
    if (differing.length > 0) console.log(`their seeds: ${differing.toSorted((a, b) => a - b).join(', ')}`);
    return differing.length > 0 ? 1 : 0;
  } finally {
    for (const release of releases.toReversed()) await release();
  }
}

/** Checks that deliberate changes of the worktree are noticed. Returns the exit code 0 or 1. */
async function selfTest(services: Services, other: string): Promise<number> {
  for (const { find, put } of deliberate) {
    const files = execFileSync('git', ['grep', '-lF', find, '--', 'src'], { cwd: other }).toString().trim().split('\n');
    for (const file of files) {
      const path = join(other, file);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(find, put));
    }
  }
  const diff = await playWorld(selfTestWorld(), services, other);
  const unseen = deliberate.filter(({ shown }) => !diff.some((line) => line.includes(`@@ vetledger ${shown} `)));
  for (const { put, shown } of unseen) console.error(`"${put}" did not show in ${shown}`);
  return unseen.length > 0 ? 1 : 0;
}

/** Plays a world on both sides. Prints and returns the lines that differ. */
async function playWorld(world: World, services: Services, other: string): Promise<string[]> {
  const began = performance.now();
  const { seed } = world;
  if (world.erp === 'tryton' && !hasTryton) {
    console.log(`world ${seed}: left out, since Tryton is not installed in ${programDir}`);
    return [];
  }
  const sides = await Promise.all(
    [other, here].map((root, at) => {
      const name = at === 0 ? 'theirs' : 'ours';
      return playSide(world, services, {
        ...{ root, folder: join(folder, `${seed}-${name}`), database: `differ_${seed}_${name}`, signal: stop.signal },
      });
    }),
  );
  const [theirs, ours] = sides.map((told, at) => {
    const file = join(folder, `world-${seed}-${at === 0 ? 'theirs' : 'ours'}`);
    writeFileSync(file, textOf(told));
    return file;
  }) as [string, string];
  const diff = diffOf(theirs, ours);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const story = `${world.erp}, ${world.steps.length} steps, ${seconds} s`;
  console.log(`world ${seed}: ${diff.length === 0 ? 'ok' : 'DIFFERS'} (${story})`);
  for (const line of diff.slice(0, shownLines)) console.log(`    ${line}`);
  if (diff.length > shownLines)
    console.log(`    … and ${diff.length - shownLines} lines more (--keep FOLDER leaves all)`);
  if (diff.length > 0 && !values['self-test'])
    console.log(`  to repeat it: npm run differ -- ${revision} --seed ${seed}`);
  if (values.keep !== undefined) {
    mkdirSync(values.keep, { recursive: true });
    for (const [file, name] of [
      [theirs, 'theirs'],
      [ours, 'ours'],
    ] as const)
      writeFileSync(join(values.keep, `world-${seed}-${name}.txt`), readFileSync(file));
  }
  for (const file of [theirs, ours]) rmSync(file);
  return diff;
}

/** Command lines are not indented, so that git shows them in the header of each hunk; their output is indented. */
function textOf(told: Told[]): string {
  return told
    .flatMap(({ command, code, lines }) => [
      `vetledger ${command}`,
      `  ${code === null ? 'killed' : `exit code ${code}`}`,
      ...lines.map((line) => `  ${line}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function diffOf(theirs: string, ours: string): string[] {
  try {
    execFileSync('git', ['diff', '--no-index', '--no-color', '--unified=1', '--', theirs, ours], { cwd: folder });
    return [];
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: Buffer };
    if (status !== 1) throw error;
    return String(stdout).trimEnd().split('\n').slice(2);
  }
}

function addWorktree(from: string, path: string): void {
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', path, from], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(path) === lock(here)) symlinkSync(join(here, 'node_modules'), join(path, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: ['ignore', 'ignore', 'inherit'] });
}

function removeWorktree(path: string): void {
  if (existsSync(path)) execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: here });
  execFileSync('git', ['worktree', 'prune'], { cwd: here });
}
