// `vetledger run` for a round: `node daemon.ts SETTINGS`. The installation's ERP is the fake one, heartbeats are five
// times as frequent, and the program may be a mutant. Everything else is the real program.

import { companyOf } from '../../../src/erp/company.ts';
import { faultsIn, injectFaults } from '../../support/faults.ts';
import { hurriedRecord, remoteErp } from './erp-wire.ts';
import { mutants } from './mutants.ts';

export interface DaemonSettings {
  config: string;
  bundle: string;
  /** The capability record of the fake ERP. Empty if nothing is delivered. */
  record: string;
  mutant: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as DaemonSettings;
const src = (path: string) => new URL(`../../../src/${path}`, import.meta.url);
const inTargets = faultsIn<typeof import('../../../src/erp/targets/open.ts')>(src('erp/targets/open.ts'));
const inBundle = faultsIn<typeof import('../../../src/runtime/bundle.ts')>(src('runtime/bundle.ts'));

injectFaults([
  inTargets({
    openTarget:
      () =>
      ({ erp }) => {
        if (erp.kind !== 'tryton') throw new Error(`the rounds have no ERP of kind ${erp.kind}`);
        return remoteErp({ url: erp.url, company: companyOf(erp), record: hurriedRecord(settings.record) });
      },
  }),
  inBundle({ workflowBundle: () => async () => settings.bundle }),
  ...(settings.mutant === '' ? [] : (mutants[settings.mutant]?.faults ?? [])),
]);

/** Intervals of at least this length are the program's: heartbeats, renewals, the daemon's requests for deliveries. */
const longIntervalMs = 5_000;
const hurry = 5;
const { setInterval: every } = globalThis;
globalThis.setInterval = ((work: () => void, ms = 0, ...args: []) =>
  every(work, ms >= longIntervalMs ? ms / hurry : ms, ...args)) as typeof setInterval;

process.argv.splice(1, process.argv.length, 'vetledger', 'run', '--config', settings.config, '--json');
const { runFromShell } = await import('../../../src/cli/main.ts');
await runFromShell();
