// npm run chaos [-- --rounds N] [--seed N] [--erp NAME | --erp none] [--mutant NAME] [--mutants] [--verbose]
// Rounds of real processes: daemons, PostgreSQL, Temporal, the sandbox and a fake ERP are killed, connections cut, answers broken and
// a disk filled at random moments; then the books, and the ERP's, must equal those of an undisturbed run.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { demoMapping } from '../../support/demo-config.ts';
import { hurriedBundle } from './bundle.ts';
import { erpSection, playedErps } from './erp-wire.ts';
import { mutants } from './mutants.ts';
import { playRound, type RoundReport, type RoundSetting } from './round.ts';
import { Services } from './services.ts';

const sameSignalMs = 1_000;
/** A mutant counts as unnoticed after this number of rounds. */
const mutantRounds = 6;

/** Plays rounds by the arguments. Returns the exit code. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      erp: { type: 'string' },
      mutant: { type: 'string', default: '' },
      mutants: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const erps: readonly string[] = [...playedErps, 'none'];
  const wrong = [values.rounds ?? '1', values.seed].some(
    (text) => !(Number.isSafeInteger(Number(text)) && Number(text) > 0),
  )
    ? '--rounds and --seed are whole numbers above 0'
    : values.erp !== undefined && !erps.includes(values.erp)
      ? `--erp is one of: ${erps.join(', ')}`
      : values.mutant !== '' && !Object.hasOwn(mutants, values.mutant)
        ? `--mutant is one of: ${Object.keys(mutants).join(', ')}`
        : null;
  if (wrong !== null) {
    console.error(`error: ${wrong}`);
    return 2;
  }
  // With only a seed, the program plays the round of that seed, to repeat a failure.
  const rounds = Number(values.rounds ?? (args.includes('--seed') ? '1' : '50'));
  const interrupt = new AbortController();
  let interruptedAt = 0;
  const onSignal = () => {
    // npm may pass on one Ctrl-C twice.
    if (interrupt.signal.aborted && performance.now() - interruptedAt < sameSignalMs) return;
    if (interrupt.signal.aborted) process.exit(130);
    interruptedAt = performance.now();
    console.error('ending; press Ctrl-C again to leave everything as it is');
    interrupt.abort(new Error('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const services = await Services.start();
  try {
    const mapping = join(services.folder, 'mapping.yaml');
    writeFileSync(mapping, readFileSync(demoMapping, 'utf8') + erpSection);
    const bundle = await hurriedBundle(services.folder);
    const setting = {
      ...{ services, bundle, mapping, mutant: values.mutant },
      ...(values.erp === undefined ? {} : { erp: values.erp === 'none' ? null : values.erp }),
      ...(values.verbose ? { tell: (line: string) => console.log(`    ${line}`) } : {}),
    };
    const first = Number(values.seed);
    return values.mutants
      ? await tryMutants(setting, first, interrupt.signal)
      : await tryOne(setting, first, rounds, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    throw error;
  } finally {
    await services.stop();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

async function tryMutants(setting: RoundSetting, first: number, signal: AbortSignal): Promise<number> {
  let unnoticed = 0;
  for (const [mutant, { erp }] of Object.entries(mutants)) {
    let noticed: RoundReport | null = null;
    for (let seed = first; seed < first + mutantRounds && noticed === null; seed++) {
      const report = await playRound({ ...setting, mutant, erp }, seed, signal);
      if (report.wrong.some((one) => !one.includes(' failed: '))) noticed = report;
    }
    if (noticed === null) unnoticed += 1;
    console.log(
      noticed === null
        ? `${mutant}: NOT noticed in ${mutantRounds} rounds`
        : `${mutant}: noticed by seed ${noticed.seed} (${noticed.wrong[0]?.split('\n')[0]})`,
    );
  }
  return unnoticed === 0 ? 0 : 1;
}

async function tryOne(setting: RoundSetting, first: number, rounds: number, signal: AbortSignal): Promise<number> {
  const reports: RoundReport[] = [];
  const began = performance.now();
  for (let seed = first; seed < first + rounds; seed++) {
    const report = await playRound(setting, seed, signal);
    reports.push(report);
    const { wrong, story, seconds, windows, entries, delivered } = report;
    const result = wrong.length === 0 ? 'right' : 'WRONG';
    console.log(
      `seed ${seed}: ${result}; ${windows} windows, ${entries} entries, ${delivered} delivered, ${seconds.toFixed(0)} s`,
    );
    if (wrong.length === 0) continue;
    for (const line of story) console.log(`    ${line}`);
    for (const line of wrong) console.log(`  ${line}`);
    console.log(`  to repeat it: npm run chaos -- --seed ${seed} --verbose`);
  }
  const failed = reports.filter(({ wrong }) => wrong.length > 0);
  const counts: Record<string, number> = {};
  for (const { disturbances } of reports)
    for (const [name, n] of Object.entries(disturbances)) counts[name] = (counts[name] ?? 0) + n;
  console.log(
    `${reports.length} rounds in ${((performance.now() - began) / 1_000).toFixed(0)} s: ${failed.length} failed; ` +
      Object.entries(counts)
        .map(([name, n]) => `${name} ${n}`)
        .join(', '),
  );
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}
