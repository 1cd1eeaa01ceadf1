import { Command } from 'commander';
import type { ReportName } from '../reports/index.ts';
import { languages } from '../texts/catalogue.ts';
import type { Definition } from './command.ts';
import { CommandContext, type CommonOptions, type Io } from './context.ts';
import { examplesText, exitCodesText, helpIn, sentenceOf } from './help.ts';

/** A command with its arguments, its summary in the help, and the loader of its file. A group of commands has no file. */
type Listed = [usage: string, summary: string, load?: () => Promise<{ command: Definition<never> }>];

/**
 * Every command, in the order of the help and of docs/reference/CLI.md. The file of a command, with all its imports, is loaded only
 * when the command runs. Therefore the summaries for the help are here.
 */
const commands: Listed[] = [
  ['dev', 'the demo: embedded servers and a sandbox clinic that stays active', () => import('./commands/dev.ts')],
  ['run', 'the daemon: schedules and worker', () => import('./commands/run.ts')],
  ['sync', 'run one window now, and wait for it', () => import('./commands/sync.ts')],
  ['backfill', 'read everything again, in parallel to the live windows', () => import('./commands/backfill.ts')],
  ['windows', 'the latest windows and how they ended', () => import('./commands/windows.ts')],
  ['replay [window...]', 'read failed or past windows again', () => import('./commands/replay.ts')],
  ['pause', 'pause the scheduled windows, or the delivery', () => import('./commands/pause.ts')],
  ['resume', 'resume paused windows, or a paused delivery', () => import('./commands/resume.ts')],
  ['cancel', 'cancel running windows, backfills, replays, or the delivery', () => import('./commands/cancel.ts')],
  ['nudge', 'open a window now through the daemon, without waiting for it', () => import('./commands/nudge.ts')],
  [
    'status',
    'lag, health and its cause; for one installation also rate budgets, states and problems',
    () => import('./commands/status.ts'),
  ],
  [
    'problems',
    'held documents and entries that the ERP refused, with cause and next step',
    () => import('./commands/problems.ts'),
  ],
  [
    'problems retry [id...]',
    'judge documents again now, in a new window',
    () => import('./commands/problems-retry.ts'),
  ],
  [
    'problems match [payment]',
    'set which prepayments a payment of type 8 used; without a payment: proposals',
    () => import('./commands/problems-match.ts'),
  ],
  [
    'explain <kind> [id]',
    'one document from source to books: proofs, rules, entries, write-back',
    () => import('./commands/explain.ts'),
  ],
  [
    'preview',
    'show what the next window would post, or what another mapping would change',
    () => import('./commands/preview.ts'),
  ],
  ['repost', 'post corrections after a changed mapping', () => import('./commands/repost.ts')],
  ['deliver', 'deliver due entries to the ERP now, and wait', () => import('./commands/deliver.ts')],
  ['deliver retry [id...]', 'send refused or undone entries again', () => import('./commands/deliver-retry.ts')],
  ['deliver ack <batch...>', 'record that a batch of files was imported', () => import('./commands/deliver-ack.ts')],
  ['deliver undo', 'reverse delivered entries in the ERP, by date', () => import('./commands/deliver-undo.ts')],
  ['deliver pause', 'pause the delivery; windows continue', () => import('./commands/deliver-pause.ts')],
  ['deliver resume', 'resume a paused delivery', () => import('./commands/deliver-resume.ts')],
  [
    'late',
    'late documents, and entries whose period the ERP has closed: each needs a decision',
    () => import('./commands/late.ts'),
  ],
  ['late list', 'the same as `vetledger late`', () => import('./commands/late-list.ts')],
  [
    'late decide [id...]',
    'decide about late documents and missing documents',
    () => import('./commands/late-decide.ts'),
  ],
  ['erp', 'the ERP of an installation'],
  ['erp check', 'check in the ERP everything that entries require', () => import('./commands/erp-check.ts')],
  [
    'erp probe',
    'measure in a demo company how the ERP behaves after failures',
    () => import('./commands/erp-probe.ts'),
  ],
  ['erp login', 'log in to the company in the ERP, with a browser', () => import('./commands/erp-login.ts')],
  ['erp logout', 'end the login to the company in the ERP', () => import('./commands/erp-logout.ts')],
  [
    'reconcile',
    'check the equations E1-E10 over the whole books; exit code 1 on a difference',
    () => import('./commands/reconcile.ts'),
  ],
  ['ledger', 'our own books'],
  [
    'ledger verify',
    'check the hash chain of the journal; exit code 1 if it is broken',
    () => import('./commands/ledger-verify.ts'),
  ],
  [
    'ledger close',
    'close our own books up to and including a day, after a checklist',
    () => import('./commands/ledger-close.ts'),
  ],
  ['ledger reopen', 'reopen our own books from a day on', () => import('./commands/ledger-reopen.ts')],
  [
    'ledger closes',
    'list the closes and reopenings of our own books, with names and checklists',
    () => import('./commands/ledger-closes.ts'),
  ],
  [
    'adopt',
    'accept a changed practice API address or time zone, entries of another database in the ERP, or a copied database',
    () => import('./commands/adopt.ts'),
  ],
  ['console', 'the console in the browser', () => import('./commands/console.ts')],
  ['user', 'the users of the console'],
  ['user list', 'the users of the console and their roles', () => userNamed('list')],
  ['user add <name>', 'add a user, and print a link for the password', () => userNamed('add')],
  ['user role <name> <role>', 'grant a role, or take it away', () => userNamed('role')],
  ['user password <name>', 'print a link for a new password', () => userNamed('password')],
  ['user link <name>', 'link an account or an identity to a user', () => userNamed('link')],
  ['user disable <name>', 'disable a user and end the sessions', () => userNamed('disable')],
  ['erase', 'personal data'],
  [
    'erase client <id>',
    'erase a client’s names and addresses; amounts stay',
    () => import('./commands/erase-client.ts'),
  ],
  ['export', 'the journal as hledger, CSV or beancount', () => import('./commands/export.ts')],
  ['report', 'reports of the books, each figure with its documents'],
  [
    'report trial-balance',
    'every account before, in and after a period or a fiscal year; equals E1',
    () => reportNamed('trial-balance'),
  ],
  ['report income', 'income and expenses of a period and of the fiscal year', () => reportNamed('income')],
  ['report balance-sheet', 'assets, liabilities and results on a day', () => reportNamed('balance-sheet')],
  ['report account <account>', 'the lines on an account, with a running balance', () => reportNamed('account')],
  ['report journal', 'every line of every entry, by date', () => reportNamed('journal')],
  [
    'report vat',
    'base and VAT by VAT group, rate, kind and code, with the source’s figures',
    () => import('./commands/report-vat.ts'),
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
    'opening balances for the ERP: open invoices, unused prepayments, gift cards and vouchers at start_date',
    () => reportNamed('cutover'),
  ],
  ['mapping', 'mapping files, and the mapping in force'],
  [
    'mapping check <file>',
    'check a mapping file, run its cases, and compare it with the source’s data',
    () => import('./commands/mapping-check.ts'),
  ],
  ['mapping apply <file>', 'put a mapping file in force', () => import('./commands/mapping-apply.ts')],
  [
    'mapping show [file]',
    'show where a mapping posts what the practice uses, with names and amounts',
    () => import('./commands/mapping-show.ts'),
  ],
  [
    'mapping diff <old> <new>',
    'compare two mapping files: what would move per account and month',
    () => import('./commands/mapping-diff.ts'),
  ],
  [
    'mapping history',
    'list the mappings that were in force, and the entries posted by each',
    () => import('./commands/mapping-history.ts'),
  ],
  ['mapping init', 'propose a mapping from the source’s data', () => import('./commands/mapping-init.ts')],
  [
    'migrate',
    'create the tables in the database, or update them after an upgrade',
    () => import('./commands/migrate.ts'),
  ],
  [
    'doctor',
    'check each dependency, credential, permission and filter with real requests',
    () => import('./commands/doctor.ts'),
  ],
  ['budget', 'rate budgets of the practice API'],
  [
    'budget reset',
    'remove the blocks and lowered limits after refusals (429)',
    () => import('./commands/budget-reset.ts'),
  ],
  [
    'sandbox',
    'a practice API for tests: an HTTP server with an invented clinic',
    () => import('./commands/sandbox.ts'),
  ],
  [
    'remove-data [folder]',
    'remove a data folder with its embedded databases',
    () => import('./commands/remove-data.ts'),
  ],
];

async function userNamed(name: 'list' | 'add' | 'role' | 'password' | 'link' | 'disable') {
  return { command: (await import('./commands/user.ts')).userCommands[name] };
}

async function reportNamed(name: Exclude<ReportName, 'vat'>) {
  return (await import('./commands/report.ts')).reportCommand(name);
}

const definitions = new WeakMap<Command, Definition<never>>();

/** The definition of a command. Undefined if its file is not loaded, or if the command is only a group. */
export function definitionOf(command: Command): Definition<never> | undefined {
  return definitions.get(command);
}

export function examplesOf(command: Command): [string, string][] {
  return definitionOf(command)?.examples ?? [];
}

/**
 * Makes the command line of vetledger. `finished` receives the exit code of the command. With `args`, only the files of the named
 * commands are loaded; the other commands can be listed but not run.
 */
export async function createProgram(
  io: Io,
  version: string,
  finished: (exitCode: number) => void,
  args?: readonly string[],
): Promise<Command> {
  const { language = 'en' } = io;
  const program = new Command('vetledger')
    .description(
      'Posts a veterinary practice’s invoices, payments and prepayments into its accountants’ books, exactly once.',
    )
    .version(version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    // Without this, commander would assign --json in `problems retry … --json` to `problems`.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // main.ts prints the error.
      writeErr: () => {},
      outputError: () => {},
    })
    .configureHelp(helpIn(language))
    .addHelpText('after', () => exitCodesText(language));
  for (const [usage, summary, load] of commands) {
    const command = addCommand(program, usage, summary);
    if (load === undefined) continue;
    const isCalled = args === undefined || namesOf(usage).every((name) => args.includes(name));
    const definition = isCalled ? (await load()).command : undefined;
    for (const each of definition?.options ?? []) command.addOption(each);
    if (definition?.config !== false) command.option('--config <file>', 'configuration file', 'vetledger.yaml');
    command.option('--language <language>', `language of texts: ${languages.join(', ')} (or VETLEDGER_LANGUAGE)`);
    command.option('--json', 'print one JSON document on stdout; everything else goes to stderr');
    command.option('--debug', 'print stack traces of errors (or VETLEDGER_DEBUG=1)');
    if (definition === undefined) continue;
    definitions.set(command, definition);
    if (definition.description !== undefined) command.description(definition.description);
    command.addHelpText('after', () => examplesText(definition.examples, language));
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
  if (parent === undefined) throw new Error(`${usage} is listed before ${name}`);
  return parent
    .command(below === undefined ? usage : usage.slice(name.length + 1))
    .summary(summary)
    .description(sentenceOf(summary))
    .helpOption('--help', 'print this help');
}

/** The command words of a usage text: `problems` and `retry` for `problems retry [id...]`. */
function namesOf(usage: string): string[] {
  return usage.split(' ').filter((word) => /^[a-z]/.test(word));
}
