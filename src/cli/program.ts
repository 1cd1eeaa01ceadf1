import { Command } from 'commander';
import { exitCodes } from '../domain/errors.ts';
import type { Definition } from './command.ts';
import { CommandContext, type CommonOptions, type Io } from './context.ts';
import { defineBookCommands } from './program/books.ts';
import { definer, examplesOf as oldExamplesOf } from './program/define.ts';
import { defineDeliveryCommands } from './program/deliveries.ts';
import { defineDocumentCommands } from './program/documents.ts';
import { defineOperationCommands } from './program/operations.ts';
import { defineReportCommands } from './program/reports.ts';
import { defineSetupCommands } from './program/setup.ts';
import { defineWindowCommands } from './program/windows.ts';

/** A command with its arguments, what the help's list says of it, and its file; without a file it only holds others. */
type Listed = [usage: string, summary: string, load?: () => Promise<{ command: Definition<never> }>];

/**
 * Every command, in the order of the help and of docs/CLI.md. The file of a command is loaded only when the command is called,
 * with all that it imports; what the list says of it therefore stands here.
 */
const commands: Listed[] = [
  [
    'status',
    'lag, health and its cause at a glance; of one installation also rate budgets, states and problems',
    () => import('./commands/status.ts'),
  ],
  ['problems', 'what is held, and what the ERP refuses: why, and what to do', () => import('./commands/problems.ts')],
  [
    'problems retry <id...>',
    'judge documents again now, in a window of their own',
    () => import('./commands/problems-retry.ts'),
  ],
  [
    'problems match [payment]',
    'say which prepayments a payment of type 8 used, where that is not known or wrong; without a payment: proposals',
    () => import('./commands/problems-match.ts'),
  ],
];

const definitions = new WeakMap<Command, Definition<never>>();

/** What the file of a command says of it; undefined where it was not loaded, or the command only holds others. */
export function definitionOf(command: Command): Definition<never> | undefined {
  return definitions.get(command);
}

export function examplesOf(command: Command): [string, string][] {
  return definitionOf(command)?.examples ?? oldExamplesOf(command);
}

/**
 * The command line of vetledger. `finished` is called with the exit code of the command that ran. With `args`, only the files of the
 * commands that they name are loaded; the others can be listed, and not run.
 */
export async function createProgram(
  io: Io,
  version: string,
  finished: (exitCode: number) => void,
  args?: readonly string[],
): Promise<Command> {
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
  defineWindowCommands(program, define);
  defineOperationCommands(program, define);
  defineDocumentCommands(program, define);
  defineDeliveryCommands(program, define);
  defineBookCommands(program, define);
  defineReportCommands(program, define);
  defineSetupCommands(program, define);
  for (const [usage, summary, load] of commands) {
    const command = addCommand(program, usage, summary);
    if (load === undefined) continue;
    const isCalled = args === undefined || args.includes(usage.split(' ')[0] ?? '');
    const definition = isCalled ? (await load()).command : undefined;
    for (const each of definition?.options ?? []) command.addOption(each);
    if (definition?.config !== false) command.option('--config <file>', 'configuration file', 'vetledger.yaml');
    command.option('--json', 'print one JSON document on stdout; everything else goes to stderr');
    command.option('--debug', 'print stack traces of errors (or VETLEDGER_DEBUG=1)');
    if (definition === undefined) continue;
    definitions.set(command, definition);
    if (definition.description !== undefined) command.description(definition.description);
    command.addHelpText('after', examplesText(definition.examples));
    command.action(async () => {
      const options = command.opts<CommonOptions>();
      const names = command.processedArgs.flat().flatMap((name) => (name === undefined ? [] : String(name)));
      finished(await definition.run(new CommandContext(io, options), options as never, names));
    });
  }
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
  return program;
}

/** Until every command is in the list above. */
const order =
  'dev run sync backfill windows replay pause resume cancel nudge status problems explain preview repost deliver late erp reconcile ledger adopt erase export report mapping migrate doctor budget sandbox'.split(
    ' ',
  );

/** Adds `problems retry <id...>` to `problems`. */
function addCommand(program: Command, usage: string, summary: string): Command {
  const words = usage.split(' ');
  const group = words.length > 1 && /^[a-z]/.test(words[1] ?? '') ? words.shift() : undefined;
  const parent = group === undefined ? program : program.commands.find((one) => one.name() === group);
  if (parent === undefined) throw new Error(`${usage} stands before ${group}`);
  return parent
    .command(words.join(' '))
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption('--help', 'print this help');
}

function examplesText(lines: [string, string][]): string {
  return `\nExamples:\n${lines.map(([line, purpose]) => `  $ ${line}\n      ${purpose}`).join('\n')}`;
}

function exitCodesText(): string {
  const lines = Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`);
  return `\nExit codes:\n${lines.join('\n')}\n\nStart with: vetledger dev`;
}
