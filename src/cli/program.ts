import { Command } from 'commander';
import { exitCodes } from '../domain/errors.ts';
import type { ReportName } from '../reports/index.ts';
import type { Definition } from './command.ts';
import { CommandContext, type CommonOptions, type Io } from './context.ts';

/** A command with its arguments, what the help's list says of it, and its file; without a file it only holds others. */
type Listed = [usage: string, summary: string, load?: () => Promise<{ command: Definition<never> }>];

/**
 * Every command, in the order of the help and of docs/reference/CLI.md. The file of a command is loaded only when the command is called,
 * with all that it imports; what the list says of it therefore stands here.
 */
const commands: Listed[] = [
  [
    'dev',
    'the demo: everything embedded, with a sandbox clinic that goes on living',
    () => import('./commands/dev.ts'),
  ],
  ['run', 'the daemon: schedules and worker', () => import('./commands/run.ts')],
  ['sync', 'one window now, waited for', () => import('./commands/sync.ts')],
  ['backfill', 'load everything again, beside the live windows', () => import('./commands/backfill.ts')],
  ['windows', 'the latest windows and how they ended', () => import('./commands/windows.ts')],
  ['replay [window...]', 'read windows again, beside the live ones', () => import('./commands/replay.ts')],
  ['pause', 'hold back the windows of the schedule, or the delivery', () => import('./commands/pause.ts')],
  ['resume', 'let paused windows, or a paused delivery, go on', () => import('./commands/resume.ts')],
  [
    'cancel',
    'end what is under way: windows, backfills, replays, or the delivery',
    () => import('./commands/cancel.ts'),
  ],
  ['nudge', 'open a window now through the daemon, without waiting for it', () => import('./commands/nudge.ts')],
  [
    'status',
    'lag, health and its cause at a glance; of one installation also rate budgets, states and problems',
    () => import('./commands/status.ts'),
  ],
  ['problems', 'what is held, and what the ERP refuses: why, and what to do', () => import('./commands/problems.ts')],
  [
    'problems retry [id...]',
    'judge documents again now, in a window of their own',
    () => import('./commands/problems-retry.ts'),
  ],
  [
    'problems match [payment]',
    'say which prepayments a payment of type 8 used, where that is not known or wrong; without a payment: proposals',
    () => import('./commands/problems-match.ts'),
  ],
  [
    'explain <kind> [id]',
    'one document from source to books: proofs, rules, entries, write-back',
    () => import('./commands/explain.ts'),
  ],
  [
    'preview',
    'what the next window would post, or what another mapping would change; writes nothing',
    () => import('./commands/preview.ts'),
  ],
  ['repost', 'post corrections after a changed mapping', () => import('./commands/repost.ts')],
  ['deliver', 'deliver what is due to the ERP now, waited for', () => import('./commands/deliver.ts')],
  ['deliver retry [id...]', 'send refused or undone entries again', () => import('./commands/deliver-retry.ts')],
  ['deliver ack <batch...>', 'note that a batch of files was read in', () => import('./commands/deliver-ack.ts')],
  ['deliver undo', 'reverse in the ERP what was delivered, by date', () => import('./commands/deliver-undo.ts')],
  ['deliver pause', 'hold the delivery; windows go on', () => import('./commands/deliver-pause.ts')],
  ['deliver resume', 'let a paused delivery go on', () => import('./commands/deliver-resume.ts')],
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
  ['erp', 'ERPs that entries are delivered to'],
  ['erp check', 'try in the ERP what entries need of it', () => import('./commands/erp-check.ts')],
  [
    'reconcile',
    'the equations E1-E10 over the whole books; exit code 1 on a difference',
    () => import('./commands/reconcile.ts'),
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
    'adopt',
    'take a moved practice API or time zone into the books, adopt another database’s entries in the ERP, or say what a copy of the database is for',
    () => import('./commands/adopt.ts'),
  ],
  ['erase', 'personal data'],
  [
    'erase client <id>',
    'erase a client’s names and addresses; amounts stay',
    () => import('./commands/erase-client.ts'),
  ],
  ['export', 'the journal as hledger, CSV or beancount', () => import('./commands/export.ts')],
  ['report', 'reports of the books, each figure with its documents'],
  [
    'report vat',
    'base and tax by VAT group, rate, kind and code, beside the source’s figures',
    () => reportNamed('vat'),
  ],
  ['report eu-sales', 'sales to companies of the EU, by buyer', () => reportNamed('eu-sales')],
  ['report receivables', 'open items per customer, by age; equals E2', () => reportNamed('receivables')],
  [
    'report prepayments',
    'unused prepayments per client, with their uses and refunds; equals E3',
    () => reportNamed('prepayments'),
  ],
  ['report vouchers', 'gift cards and vouchers sold and redeemed; equals E9', () => reportNamed('vouchers')],
  ['report clearing', 'payments by account, type, department and day', () => reportNamed('clearing')],
  [
    'report cutover',
    'open invoices, unused prepayments, gift cards and vouchers at start_date, for the opening balances of the ERP',
    () => reportNamed('cutover'),
  ],
  ['mapping', 'mapping files, and the mapping in force'],
  [
    'mapping check <file>',
    'check a mapping file, run its cases, and compare it with what the source uses',
    () => import('./commands/mapping-check.ts'),
  ],
  ['mapping apply <file>', 'put a mapping file in force', () => import('./commands/mapping-apply.ts')],
  [
    'mapping history',
    'which mapping was in force when, and which posted what',
    () => import('./commands/mapping-history.ts'),
  ],
  ['mapping init', 'propose a mapping from what the source uses', () => import('./commands/mapping-init.ts')],
  [
    'migrate',
    'make the tables in the database, or bring them up to date after an upgrade',
    () => import('./commands/migrate.ts'),
  ],
  ['doctor', 'try each dependency, credential, permission and filter for real', () => import('./commands/doctor.ts')],
  ['budget', 'rate budgets of the practice API'],
  [
    'budget reset',
    'forget the blocks and lowered limits that refusals (429) have left',
    () => import('./commands/budget-reset.ts'),
  ],
  [
    'sandbox',
    'a practice API to try things on: a real HTTP server with an invented clinic',
    () => import('./commands/sandbox.ts'),
  ],
  [
    'remove-data [folder]',
    'remove a data folder with its embedded databases',
    () => import('./commands/remove-data.ts'),
  ],
];

async function reportNamed(name: ReportName) {
  return (await import('./commands/report.ts')).reportCommand(name);
}

const definitions = new WeakMap<Command, Definition<never>>();

/** What the file of a command says of it; undefined where it was not loaded, or the command only holds others. */
export function definitionOf(command: Command): Definition<never> | undefined {
  return definitions.get(command);
}

export function examplesOf(command: Command): [string, string][] {
  return definitionOf(command)?.examples ?? [];
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
  return program;
}

/** Adds `problems retry [id...]` to `problems`. */
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

/** `problems` and `retry` of `problems retry [id...]`. */
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
