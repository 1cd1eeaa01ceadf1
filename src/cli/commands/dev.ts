import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { runDev } from '../dev.ts';
import { windowsAnswer } from '../run-windows.ts';
import { answer as reconcileAnswer } from './reconcile.ts';

interface Options {
  once?: true;
  ui: boolean;
  erp?: 'tryton';
  twoPersons?: true;
}

/** `reconcile` is absent if the first window failed. */
const answer = windowsAnswer.extend({ reconcile: reconcileAnswer.optional() });

export const command: Definition<Options> = {
  description:
    'Starts an embedded PostgreSQL, a Temporal server and a sandbox clinic. Loads, posts and reconciles its history, and continues until Ctrl-C. The data is stored under .vetledger (or VETLEDGER_DATA_DIR), and the next start continues with it. With --erp tryton, it also installs and starts a Tryton server, and delivers everything to it. This requires Python and takes some minutes the first time. This demo has separate data.',
  config: false,
  options: [
    new Option(
      '--once',
      'end after the first sync and its delivery; exit code 0 only if the books reconcile and everything is delivered',
    ),
    new Option('--no-ui', 'do not start the web UI of Temporal'),
    new Option('--erp <kind>', 'deliver to a real ERP, too').choices(['tryton']),
    new Option('--two-persons', 'a close needs the approval of a second accountant'),
  ],
  examples: [
    ['vetledger dev', 'try vetledger out'],
    ['vetledger dev --once', 'one sync with reconciliation, then end'],
    ['vetledger dev --erp tryton', 'see the entries in an ERP'],
    ['vetledger dev --two-persons', 'close a month with two persons in the browser'],
  ],
  answer,
  run: dev,
};

function dev(context: CommandContext, options: Options): Promise<number> {
  return runDev({
    once: options.once === true,
    ui: options.ui,
    erp: options.erp ?? null,
    twoPersons: options.twoPersons === true,
    dataDir: resolve(context.env.VETLEDGER_DATA_DIR || '.vetledger'),
    env: context.env,
    signal: context.signal,
    json: context.json,
    language: context.language,
    stderr: context.io.stderr,
  });
}
