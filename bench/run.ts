// The benchmarks: vetledger beside dlt and the Airbyte CDK, on the same sandbox, in the same run.
//
//     node bench/run.ts [scenario…] [--quick]          (npm run bench)
//
//     posting          the pure posting core on one core
//     full-load        (a) a full load of 20,000 invoices, unthrottled, three times: records/s, peak memory
//     full-load-large  the same of 200,000, once
//     load-cost        the processor time of the first, by program and by the daemon's parts
//     throttled        (b) a full load under the limits, a window of 10 s: time over the bound, weight, 429s, entries meanwhile
//     throttled-60s    the same at the real window of 60 s
//     throttled-elsewhere   the same of a server that differs where the specification is silent
//     idle             (c) idle and small windows: requests, weight, time
//     nudge            (c) from a change in the source to its entry in the ledger
//     two-workers      (d) two workers, and one killed and restarted
//     killed           (e) killed in the middle of a throttled load and resumed: weight spent twice
//     late-commits     (f) records missing and stale after late commits
//     delivery         entries per second into a real Tryton, beside a bare loop of the same requests
//     window-cost      (g) blocks of PostgreSQL that a window reads, after a short and a long history
//     many-installations   (h) 300 installations in one daemon for an hour: windows, fairness, processor time, WAL, growth.
//                      --installations 300 --minutes 60 --every 300 --temporal dev|postgres
//     write-backs      (k) processor time, requests and weight of the write-back of a prepayment
//     reconcile        (j) `vetledger reconcile` of 20,000 and 60,000 invoices: processor time and memory
//     account-reports  (l) reports of accounts and a closing binder over 20,000 and 200,000 invoices: time and memory
//     console          (m) pages of the console: 300 clinics of 2,000 invoices, and one of 200,000
//     sandbox-read     (i) a bare read of 100,000 records from the sandbox beside that of an earlier revision (--against REVISION)
//
// Without a name, all scenarios run one after the other, which takes an hour and a half. Each writes its section of
// bench/RESULTS.md. --quick runs small versions within a few minutes, to show that the programs work, and writes nothing.
// The sandbox is a separate process, started again for each run. PostgreSQL and Temporal are temporary and shared. The
// other programs are in bench/peers/, with exact versions of their packages. Their Python environments are created once,
// under .vetledger/bench/; this needs python3 with venv, and PyPI. Use a quiet machine.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writesSections } from './measure.ts';
import { run } from './parts/processes.ts';
import { type Services, startServices } from './parts/services.ts';
import { accountReports } from './scenarios/account-reports.ts';
import { consolePages } from './scenarios/console.ts';
import { fullLoad, largeFullLoad } from './scenarios/full-load.ts';
import { idle } from './scenarios/idle.ts';
import { killed } from './scenarios/killed.ts';
import { lateCommits } from './scenarios/late-commits.ts';
import { loadCost } from './scenarios/load-cost.ts';
import { manyInstallations } from './scenarios/many-installations.ts';
import { reconcile } from './scenarios/reconcile.ts';
import { sandboxRead } from './scenarios/sandbox-read.ts';
import { throttled, throttledAtTrueWindow, throttledElsewhere } from './scenarios/throttled.ts';
import { twoWorkers } from './scenarios/two-workers.ts';
import { windowCost } from './scenarios/window-cost.ts';
import { writeBacks } from './scenarios/write-backs.ts';

type Scenario = (services: Services, quick: boolean) => Promise<void>;

const scenarios: Record<string, Scenario> = {
  posting: async (_services, quick) => {
    // This script has no small version, because it takes only seconds, and it always writes its section.
    if (!quick) await script('posting.ts', []);
  },
  'full-load': fullLoad,
  'full-load-large': largeFullLoad,
  'load-cost': loadCost,
  throttled,
  'throttled-60s': throttledAtTrueWindow,
  'throttled-elsewhere': throttledElsewhere,
  idle,
  nudge: (_services, quick) => script('nudge.ts', quick ? ['--changes', '1', '--print'] : []),
  delivery: (_services, quick) => script('delivery.ts', quick ? ['--invoices', '60', '--pairs', '1', '--print'] : []),
  'two-workers': twoWorkers,
  killed,
  'late-commits': lateCommits,
  'window-cost': windowCost,
  'write-backs': writeBacks,
  reconcile,
};

/** Scenarios with separate servers. */
const alone: Record<string, (quick: boolean) => Promise<void>> = {
  'account-reports': accountReports,
  console: consolePages,
  'many-installations': (quick) =>
    manyInstallations({
      installations: Number(values.installations ?? (quick ? 8 : 300)),
      minutes: Number(values.minutes ?? (quick ? 0.5 : 60)),
      everySeconds: Number(values.every ?? (quick ? 10 : 300)),
      temporal: values.temporal === 'postgres' ? 'postgres' : 'dev',
    }),
};

/** Scenarios that run only if they are named. */
const named: Record<string, (quick: boolean) => Promise<void>> = {
  'sandbox-read': (quick) =>
    sandboxRead({ against: values.against ?? 'HEAD~1', records: quick ? 5_000 : 100_000, turns: quick ? 2 : 7 }),
};

/** Runs a benchmark that is a separate program. */
async function script(file: string, args: string[]): Promise<void> {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const { stdout } = await run({ command: process.execPath, args: [program, ...args], timeoutMs: 1_800_000 });
  console.log(stdout);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    installations: { type: 'string' },
    minutes: { type: 'string' },
    every: { type: 'string' },
    temporal: { type: 'string' },
    against: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  // The comment at the head of this file.
  const [usage = ''] = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\nimport ');
  console.log(usage.replaceAll(/^\/\/ ?/gm, ''));
  process.exit(0);
}
const names = [...Object.keys(scenarios), ...Object.keys(alone)];
const known = [...names, ...Object.keys(named)];
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`error: no scenario ${unknown.join(', ')}; there are ${known.join(', ')}`);
  process.exit(2);
}
writesSections(!values.quick);
const chosen = positionals.length > 0 ? positionals : names;
const services = chosen.some((name) => Object.hasOwn(scenarios, name)) ? await startServices() : null;
let failures = 0;
try {
  for (const name of chosen) {
    const started = performance.now();
    console.error(`${name}: starting`);
    try {
      const scenario = scenarios[name];
      if (scenario && services) await scenario(services, values.quick);
      else await (alone[name] ?? named[name])?.(values.quick);
      console.error(`${name}: done in ${Math.round((performance.now() - started) / 1000)} s`);
    } catch (error) {
      // The remaining scenarios still run.
      failures += 1;
      console.error(`${name}: FAILED`, error);
    }
  }
} finally {
  await services?.stop();
}
process.exitCode = failures > 0 ? 1 : 0;
