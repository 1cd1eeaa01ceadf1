import { Command } from 'commander';
import { exitCodes } from '../domain/errors.ts';
import type { Definition } from './command.ts';
import { CommandContext, type CommonOptions, type Io } from './context.ts';
import { defineBookCommands } from './program/books.ts';
import { definer, examplesOf as oldExamplesOf } from './program/define.ts';
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
  ['ledger', 'our own books'],
  [
    'ledger verify',
    'check the hash chain of the journal; exit code 1 when it is broken',
    () => import('./commands/ledger-verify.ts'),
  ],
  ['ledger close', 'close our own books through a day, after a checklist', () => import('./commands/ledger-close.ts')],
  ['ledger reopen', 'open our own books again from a day on', () => import('./commands/ledger-reopen.ts')],
  [
    'ledger closes',
    'when our own books were closed and reopened, by whom, with which checklist',
    () => import('./commands/ledger-closes.ts'),
  ],
  [
    'late',
    'late documents, and entries that a closed period of the ERP holds: each waits for a decision',
    () => import('./commands/late.ts'),
  ],
  ['late list', 'the same as `vetledger late`', () => import('./commands/late-list.ts')],
  [
    'late decide [id...]',
    'decide about late documents, and about those that the source does not show any more',
    () => import('./commands/late-decide.ts'),
  ],
  ['repost', 'post corrections after a changed mapping', () => import('./commands/repost.ts')],
  [
    'preview',
    'what the next window would post, or what another mapping would change; writes nothing',
    () => import('./commands/preview.ts'),
  ],
  ['erase', 'personal data'],
  [
    'erase client <id>',
    'erase a client’s names and addresses; amounts stay',
    () => import('./commands/erase-client.ts'),
  ],
  [
    'adopt',
    'take a moved practice API or time zone into the books, adopt another database’s entries in the ERP, or say what a copy of the database is for',
    () => import('./commands/adopt.ts'),
  ],
  ['deliver', 'deliver what is due to the ERP now, waited for', () => import('./commands/deliver.ts')],
  ['deliver retry [id...]', 'send refused or undone entries again', () => import('./commands/deliver-retry.ts')],
  ['deliver ack <batch...>', 'note that a batch of files was read in', () => import('./commands/deliver-ack.ts')],
  ['deliver undo', 'reverse in the ERP what was delivered, by date', () => import('./commands/deliver-undo.ts')],
  ['deliver pause', 'hold the delivery; windows go on', () => import('./commands/deliver-pause.ts')],
  ['deliver resume', 'let a paused delivery go on', () => import('./commands/deliver-resume.ts')],
  ['erp', 'ERPs that entries are delivered to'],
  ['erp check', 'try in the ERP what entries need of it', () => import('./commands/erp-check.ts')],
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
  defineBookCommands(program, define);
  defineReportCommands(program, define);
  defineSetupCommands(program, define);
  for (const [usage, summary, load] of commands) {
    const command = addCommand(program, usage, summary);
    if (load === undefined) continue;
    const isCalled = args === undefined || namesOf(usage).every((name) => args.includes(name));
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
  const [name = '', below] = namesOf(usage);
  const parent = below === undefined ? program : program.commands.find((one) => one.name() === name);
  if (parent === undefined) throw new Error(`${usage} stands before ${name}`);
  return parent
    .command(below === undefined ? usage : usage.slice(name.length + 1))
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption('--help', 'print this help');
}

/** `problems` and `retry` of `problems retry <id...>`. */
function namesOf(usage: string): string[] {
  return usage.split(' ').filter((word) => /^[a-z]/.test(word));
}

function examplesText(lines: [string, string][]): string {
  return `\nExamples:\n${lines.map(([line, purpose]) => `  $ ${line}\n      ${purpose}`).join('\n')}`;
}

function exitCodesText(): string {
  const lines = Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`);
  return `\nExit codes:\n${lines.join('\n')}\n\nStart with: vetledger dev`;
}
