import { Command, InvalidArgumentError, Option } from 'commander';
import { isCalendarDate } from '../domain/dates.ts';
import { exitCodes } from '../domain/errors.ts';
import type { ExportCommandOptions } from './commands/export.ts';
import type { RepostCommandOptions } from './commands/repost.ts';
import type { SandboxOptions } from './commands/sandbox.ts';
import { CommandContext, type CommonOptions, type Io } from './context.ts';

/** Runs a command; gives its exit code. */
type Action<Options> = (context: CommandContext, options: Options, names: string[]) => Promise<number>;

interface Definition<Options> {
  summary: string;
  description?: string;
  /** Command lines with what each is for; shown by --help and in docs/CLI.md. */
  examples: [commandLine: string, purpose: string][];
  options?: Option[];
  /** False for the commands that read no configuration. */
  config?: false;
  action: Action<Options & CommonOptions>;
}

/** Everything below is read by `examplesOf` for the documentation. */
const examples = new WeakMap<Command, [string, string][]>();

export function examplesOf(command: Command): [string, string][] {
  return examples.get(command) ?? [];
}

const installation = option(
  '--installation <id>',
  'only this installation (default: every one of the configuration)',
  wholeNumber,
);

/** The command line of vetledger. `finished` is told the exit code of the command that ran. */
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
      // What is wrong is printed once, in our own words, by the caller.
      writeErr: () => {},
      outputError: () => {},
    })
    .addHelpText(
      'after',
      `\nExit codes:\n${Object.entries(exitCodes)
        .map(([code, meaning]) => `  ${code}  ${meaning}`)
        .join('\n')}\n\nStart with: vetledger dev`,
    );

  function define<Options>(parent: Command, usage: string, definition: Definition<Options>): Command {
    const command = parent.command(usage).summary(definition.summary);
    command
      .description(definition.description ?? `${sentence(definition.summary)}`)
      .helpOption('--help', 'print this help');
    for (const item of definition.options ?? []) command.addOption(item);
    if (definition.config !== false) {
      command.option('--config <file>', 'configuration file', 'vetledger.yaml');
    }
    command.option('--json', 'print one JSON document on stdout; everything else goes to stderr');
    command.option('--debug', 'print stack traces of errors (or VETLEDGER_DEBUG=1)');
    command.addHelpText('after', helpOfExamples(definition.examples));
    examples.set(command, definition.examples);
    command.action(async () => {
      const options = command.opts<Options & CommonOptions>();
      finished(
        await definition.action(new CommandContext(io, options), options, command.processedArgs.flat() as string[]),
      );
    });
    return command;
  }

  define<{ once?: true; ui: boolean }>(program, 'dev', {
    summary: 'the demo: everything embedded, with a sandbox clinic that goes on living',
    description:
      'Starts an embedded PostgreSQL and Temporal server and a sandbox clinic, loads its history, posts and reconciles it, and goes on until Ctrl-C. Data is kept under .vetledger (or VETLEDGER_DATA_DIR); the next start goes on where it was.',
    config: false,
    options: [
      new Option('--once', 'end after the first sync; exit code 0 only if reconciled'),
      new Option('--no-ui', 'without the web UI of Temporal'),
    ],
    examples: [
      ['vetledger dev', 'try vetledger out'],
      ['vetledger dev --once', 'one sync, reconciled, and the end'],
    ],
    action: async (context, options) => (await import('./commands/dev.ts')).dev(context, options),
  });
  define(program, 'run', {
    summary: 'the daemon: schedules and worker',
    description:
      'Opens a window of every installation as often as `schedule.every` says, until Ctrl-C or SIGTERM. Each window is one line on stdout.',
    examples: [['vetledger run --config /etc/vetledger/vetledger.yaml', 'run as a service']],
    action: async (context) => (await import('./commands/run.ts')).run(context),
  });
  define<{ installation?: number }>(program, 'sync', {
    summary: 'one window now, waited for',
    description: 'Pulls what changed since the last window, posts it and writes back. The first one loads everything.',
    options: [installation],
    examples: [
      ['vetledger sync', 'every installation'],
      ['vetledger sync --installation 4711 --json', 'one installation, the figures as JSON'],
    ],
    action: async (context, options) => (await import('./commands/sync.ts')).sync(context, options),
  });
  define<{ installation?: number; from?: string }>(program, 'backfill', {
    summary: 'load everything again, beside the live windows',
    description: 'Walks the whole source, or its invoices from a date on, without moving the live windows’ watermarks.',
    options: [installation, option('--from <date>', 'only invoices dated from this day on (YYYY-MM-DD)', calendarDate)],
    examples: [
      ['vetledger backfill', 'all of every installation'],
      ['vetledger backfill --installation 4711 --from 2026-01-01', 'this year of one installation'],
    ],
    action: async (context, options) => (await import('./commands/sync.ts')).backfill(context, options),
  });
  define<{ installation?: number; failed?: true; limit: number }>(program, 'windows', {
    summary: 'the latest windows and how they ended',
    options: [
      installation,
      new Option('--failed', 'only those that failed'),
      option('--limit <n>', 'how many', wholeNumber).default(20),
    ],
    examples: [
      ['vetledger windows', 'the last twenty'],
      ['vetledger windows --failed', 'what went wrong lately'],
    ],
    action: async (context, options) => (await import('./commands/windows.ts')).windows(context, options),
  });
  define(program, 'status', {
    summary: 'lag, rate budgets, states and problems at a glance',
    examples: [['vetledger status', 'how things are, and what to do next']],
    action: async (context) => (await import('./commands/status.ts')).status(context),
  });
  const problems = define<{ installation?: number }>(program, 'problems', {
    summary: 'what is held, why, and what to do',
    options: [installation],
    examples: [
      ['vetledger problems', 'every document that needs somebody'],
      ['vetledger problems retry 4711/invoice/123', 'judge a document again now'],
    ],
    action: async (context, options) => (await import('./commands/problems.ts')).problems(context, options),
  });
  define(problems, 'retry <id...>', {
    summary: 'judge documents again now, in a window of their own',
    description:
      'Held documents are tried again by themselves when their record, the mapping or a lock changes; this does it at once. Ids are those that `vetledger problems` prints.',
    examples: [['vetledger problems retry 4711/invoice/123 4711/payment/7', 'two documents']],
    action: async (context, _options, ids) => (await import('./commands/problems.ts')).retry(context, ids),
  });
  define<{ installation?: number }>(program, 'explain <kind> <id>', {
    summary: 'one document from source to books: proofs, rules, entries, write-back',
    description: 'Kind is invoice, payment or prepayment; id is the document’s id in the practice software.',
    options: [installation],
    examples: [
      ['vetledger explain invoice 123', 'why it is in the books as it is, or why not'],
      ['vetledger explain prepayment 7 --json', 'the same as JSON'],
    ],
    action: async (context, options, [kind, id]) =>
      (await import('./commands/explain.ts')).explain(context, options, kind!, id!),
  });
  define<{ installation?: number; mapping?: string }>(program, 'preview', {
    summary: 'what the next window would post, or what another mapping would change; writes nothing',
    description:
      'Judges every document that waits, by what is here now, and prints the entries it would get, what would be held and why. With --mapping: the same by that mapping, and every document in the books that it would post differently, with the amounts it moves between accounts. A window also pulls what has changed in the source since the last one.',
    options: [installation, new Option('--mapping <file>', 'by this mapping instead of the configured one')],
    examples: [
      ['vetledger preview', 'before the next window'],
      ['vetledger preview --mapping mappings/new.yaml', 'before a changed mapping is put to use'],
    ],
    action: async (context, options) => (await import('./commands/preview.ts')).preview(context, options),
  });
  define<RepostCommandOptions>(program, 'repost', {
    summary: 'post corrections after a changed mapping',
    description:
      'A changed mapping by itself changes nothing that is in the books. This reverses each document whose lines come out differently by the configured mapping and posts it anew, both with the reason `mapping_changed`. Closed periods are heeded as `policies.locked_period` says. It never runs beside a window; posting again posts nothing. Without --document, --from and --to it takes everything. A daemon must have been restarted with the changed mapping first.',
    options: [
      new Option('--document <document...>', 'only these (invoice 123, or 4711/invoice/123; several may follow)'),
      option('--from <date>', 'only documents dated from this day on (YYYY-MM-DD)', calendarDate),
      option('--to <date>', 'only documents dated up to this day (YYYY-MM-DD)', calendarDate),
      new Option('--all', 'every document in the books (the default)'),
      installation,
      new Option('--dry-run', 'only print what would be posted'),
    ],
    examples: [
      ['vetledger repost --dry-run', 'what would be posted'],
      ['vetledger repost --from 2026-01-01 --to 2026-01-31', 'one month'],
      ['vetledger repost --document invoice 123', 'one document'],
    ],
    action: async (context, options) => (await import('./commands/repost.ts')).repost(context, options),
  });
  define<{ installation?: number }>(program, 'reconcile', {
    summary: 'the equations E1-E6 over the whole books; exit code 1 on a difference',
    options: [installation],
    examples: [
      ['vetledger reconcile', 'trial balance, states and equations'],
      ['vetledger reconcile --json', 'the same as JSON'],
    ],
    action: async (context, options) => (await import('./commands/reconcile.ts')).reconcile(context, options),
  });
  const ledger = program
    .command('ledger')
    .summary('our own books')
    .description('Our own books.')
    .helpOption('--help', 'print this help');
  define<{ installation?: number }>(ledger, 'verify', {
    summary: 'check the hash chain of the journal; exit code 1 when it is broken',
    options: [installation],
    examples: [['vetledger ledger verify', 'nobody changed an entry']],
    action: async (context, options) => (await import('./commands/ledger.ts')).verify(context, options),
  });
  define<{ installation?: number; through: string }>(ledger, 'close', {
    summary: 'close our own books through a day',
    description:
      'Nothing is posted on or before that day any more; `policies.locked_period` of the mapping says what happens to documents dated in it. A closed period is not opened again.',
    options: [
      option('--through <date>', 'the last closed day (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
      installation,
    ],
    examples: [['vetledger ledger close --through 2026-01-31', 'January is done']],
    action: async (context, options) => (await import('./commands/ledger.ts')).close(context, options),
  });
  define<ExportCommandOptions>(program, 'export', {
    summary: 'the journal as hledger, CSV or beancount',
    description:
      'What goes to the general ledger: every document’s entry, or, for those posted in mode `daily_summary`, one entry per day and department. Entries of days that have no summary yet are left out, and counted on stderr.',
    options: [
      new Option('--format <format>', 'what to write').choices(['hledger', 'csv', 'beancount']).makeOptionMandatory(),
      installation,
      option('--from <date>', 'first entry date (YYYY-MM-DD)', calendarDate),
      option('--to <date>', 'last entry date (YYYY-MM-DD)', calendarDate),
      new Option('--documents', 'the sub-ledger instead: the entry of every document, whatever its posting mode'),
      new Option('--out <file>', 'write to this file, whole or not at all (default: stdout)'),
    ],
    examples: [
      ['vetledger export --format hledger | hledger -f - balance', 'the trial balance by another program'],
      ['vetledger export --format csv --from 2026-01-01 --to 2026-01-31 --out january.csv', 'one month as a table'],
    ],
    action: async (context, options) => (await import('./commands/export.ts')).exportJournal(context, options),
  });
  const mapping = program
    .command('mapping')
    .summary('mapping files')
    .description('Mapping files.')
    .helpOption('--help', 'print this help');
  define<{ installation?: number }>(mapping, 'check <file>', {
    summary: 'check a mapping file, run its cases, and compare it with what the source uses',
    description:
      'Exit code 2 when the file, or the file of its cases beside it (`NAME.specs.yaml`), is wrong. Runs the cases. With a configuration and a database: lists the accounts, VAT groups, payment types and roles that the source uses and the file lacks, with counts and exact amounts. Exit code 1 when a case fails or something is lacking.',
    options: [installation],
    examples: [
      ['vetledger mapping check mappings/demo.yaml', 'before it is put to use'],
      ['vetledger mapping check mappings/finland.yaml --installation 4711 --json', 'for one installation, as JSON'],
    ],
    action: async (context, options, [file]) => (await import('./commands/mapping.ts')).check(context, options, file!),
  });
  define<{ installation?: number; out?: string }>(mapping, 'init', {
    summary: 'propose a mapping from what the source uses',
    description:
      'Reads the account number list of the practice software, and the VAT groups, payment types and departments that the mirror holds. What only the accountant can choose is left empty and marked; until it is filled in, the documents that need it are held.',
    options: [
      installation,
      new Option('--out <file>', 'write to this file, which must not exist yet (default: stdout)'),
    ],
    examples: [
      ['vetledger mapping init', 'have a look'],
      ['vetledger mapping init --installation 4711 --out mappings/4711.yaml', 'a file to fill in'],
    ],
    action: async (context, options) => (await import('./commands/mapping-init.ts')).init(context, options),
  });
  define<{ installation?: number }>(program, 'doctor', {
    summary: 'try each dependency, credential, permission and filter for real',
    options: [installation],
    examples: [['vetledger doctor', 'after setting up, and when something is wrong']],
    action: async (context, options) => (await import('./commands/doctor.ts')).doctor(context, options),
  });
  define<SandboxOptions>(program, 'sandbox', {
    summary: 'a practice API to try things on: a real HTTP server with an invented clinic',
    description: 'Stays up until Ctrl-C. It holds no real data and asks for no real credentials.',
    config: false,
    options: [
      option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', wholeNumber).default(8090),
      option('--seed <n>', 'which clinic; the same seed gives the same one', wholeNumber).default(1),
      option('--invoices <n>', 'final invoices of its history', wholeNumber).default(2600),
      option('--rate-window <seconds>', 'length of the rolling window of its rate limits', decimal).default(60),
      option('--latency <ms>', 'milliseconds that each answer takes longer', wholeNumber).default(0),
      new Option('--token <token>', 'bearer token it accepts (default: $PRACTICE_TOKEN, or sandbox-token)'),
      new Option('--state <file>', 'keep the clinic in this file over restarts'),
      option('--webhooks <url>', 'send a webhook for each change to this address', webAddress),
    ],
    examples: [
      ['vetledger sandbox', 'the clinic that vetledger.yaml of a checkout names'],
      ['vetledger sandbox --port 0 --seed 7 --rate-window 5 --json', 'for tests: any port, short rate window'],
    ],
    action: async (context, options) => (await import('./commands/sandbox.ts')).sandbox(context, options),
  });
  return program;
}

function option(flags: string, description: string, parse: (value: string) => unknown): Option {
  return new Option(flags, description).argParser(parse);
}

function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

function webAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value))
    throw new InvalidArgumentError('It must be an http address.');
  return value;
}

function decimal(value: string): number {
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) <= 0)
    throw new InvalidArgumentError('It must be a number above 0.');
  return Number(value);
}

function calendarDate(value: string): string {
  if (!isCalendarDate(value)) throw new InvalidArgumentError('It must be a date like 2026-01-31.');
  return value;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function helpOfExamples(lines: [string, string][]): string {
  return `\nExamples:\n${lines.map(([line, purpose]) => `  $ ${line}\n      ${purpose}`).join('\n')}`;
}
