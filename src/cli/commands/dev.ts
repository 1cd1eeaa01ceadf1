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
}

/** `reconcile` is missing where the first window failed. */
const answer = windowsAnswer.extend({ reconcile: reconcileAnswer.optional() });

export const command: Definition<Options> = {
  description:
    'Starts an embedded PostgreSQL and Temporal server and a sandbox clinic, loads its history, posts and reconciles it, and goes on until Ctrl-C. Data is kept under .vetledger (or VETLEDGER_DATA_DIR); the next start goes on where it was. With --erp tryton, a Tryton server is installed and started beside it (Python is needed, and some minutes the first time), and everything is delivered into it; this demo has data of its own.',
  config: false,
  options: [
    new Option(
      '--once',
      'end after the first sync and its delivery; exit code 0 only if reconciled and all of it delivered',
    ),
    new Option('--no-ui', 'without the web UI of Temporal'),
    new Option('--erp <kind>', 'deliver to a real ERP, too').choices(['tryton']),
  ],
  examples: [
    ['vetledger dev', 'try vetledger out'],
    ['vetledger dev --once', 'one sync, reconciled, and the end'],
    ['vetledger dev --erp tryton', 'see the entries in an ERP'],
  ],
  answer,
  run: dev,
};

function dev(context: CommandContext, options: Options): Promise<number> {
  return runDev({
    once: options.once === true,
    ui: options.ui,
    erp: options.erp ?? null,
    dataDir: resolve(context.env.VETLEDGER_DATA_DIR || '.vetledger'),
    env: context.env,
    signal: context.signal,
    json: context.json,
    stderr: context.io.stderr,
  });
}
