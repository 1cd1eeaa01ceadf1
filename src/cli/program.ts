import { Command } from 'commander';
import { exitCodes } from '../domain/errors.ts';
import type { Io } from './context.ts';
import { defineBookCommands } from './program/books.ts';
import { definer } from './program/define.ts';
import { defineDeliveryCommands } from './program/deliveries.ts';
import { defineDocumentCommands } from './program/documents.ts';
import { defineOperationCommands } from './program/operations.ts';
import { defineReportCommands } from './program/reports.ts';
import { defineSetupCommands } from './program/setup.ts';
import { defineWindowCommands } from './program/windows.ts';

export { examplesOf } from './program/define.ts';

/** The command line of vetledger. `finished` is called with the exit code of the command that ran. */
export function createProgram(io: Io, version: string, finished: (exitCode: number) => void): Command {
  const program = new Command('vetledger')
    .description(
      'Posts a veterinary practice’s invoices, payments and prepayments into its accountants’ books, exactly once.',
    )
    .version(version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    // Without it, `problems retry … --json` would give --json to `problems`.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // main.ts prints what is wrong, once.
      writeErr: () => {},
      outputError: () => {},
    })
    .addHelpText('after', exitCodesText());
  const define = definer(io, finished);
  // In the order of the help and of docs/CLI.md.
  defineWindowCommands(program, define);
  defineOperationCommands(program, define);
  defineDocumentCommands(program, define);
  defineDeliveryCommands(program, define);
  defineBookCommands(program, define);
  defineReportCommands(program, define);
  defineSetupCommands(program, define);
  return program;
}

function exitCodesText(): string {
  const lines = Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`);
  return `\nExit codes:\n${lines.join('\n')}\n\nStart with: vetledger dev`;
}
