import { type Command, Option } from 'commander';
import type { MappingCheckOptions } from '../commands/mapping.ts';
import type { SandboxOptions } from '../commands/sandbox.ts';
import { type Define, group } from './define.ts';
import { decimal, installation, option, webAddress, wholeNumber } from './options.ts';

/** Commands for setting up and trying out: mapping, doctor, budget, sandbox. */
export function defineSetupCommands(program: Command, define: Define): void {
  const mapping = group(program, 'mapping', 'mapping files');
  define<MappingCheckOptions>(mapping, 'check <file>', {
    summary: 'check a mapping file, run its cases, and compare it with what the source uses',
    description:
      'Exit code 2 when the file, or the file of its cases beside it (`NAME.specs.yaml`), is wrong. Runs the cases. With `chart` in the file: refuses accounts that the chart does not have, that are closed in it, or whose type their role cannot have, and warns of two roles on one account. With a configuration and a database: lists the accounts, VAT groups, payment types and roles that the source uses and the file lacks, with counts and exact amounts. Exit code 1 when a case fails, or something is lacking or wrong. With --erp or `chart: erp`: compares the file with the chart of the ERP, too, without writing there.',
    options: [
      installation,
      new Option('--erp', 'compare with accounts, tax codes, dimensions, journals and parties of the ERP, too'),
    ],
    examples: [
      ['vetledger mapping check mappings/demo.yaml', 'before it is put to use'],
      ['vetledger mapping check mappings/finland.yaml --installation 4711 --json', 'for one installation, as JSON'],
      ['vetledger mapping check mappings/tryton-demo.yaml --erp', 'and with the chart of the ERP'],
    ],
    action: async (context, options, [file = '']) =>
      (await import('../commands/mapping.ts')).check(context, options, file),
  });
  define<{ installation?: number }>(mapping, 'history', {
    summary: 'which version of the mapping posted what',
    description:
      'Every entry keeps the hash of the mapping’s content that it was posted by, and the `version` and `approved_by` of the file where it has them. Reads the whole journal.',
    options: [installation],
    examples: [
      ['vetledger mapping history', 'every mapping that entries were posted by'],
      ['vetledger mapping history --json', 'the same as JSON'],
    ],
    action: async (context, options) => (await import('../commands/mapping-history.ts')).history(context, options),
  });
  define<{ installation?: number; out?: string }>(mapping, 'init', {
    summary: 'propose a mapping from what the source uses',
    description:
      'Reads the account number list of the practice software, and the VAT groups, payment types and departments that the mirror holds. Accounts that are called gift cards or vouchers are taken for what is owed, not earned. What only the accountant can choose is left empty and marked; until it is filled in, the documents that need it are held.',
    options: [
      installation,
      new Option('--out <file>', 'write to this file, which must not exist yet (default: stdout)'),
    ],
    examples: [
      ['vetledger mapping init', 'have a look'],
      ['vetledger mapping init --installation 4711 --out mappings/4711.yaml', 'a file to fill in'],
    ],
    action: async (context, options) => (await import('../commands/mapping-init.ts')).init(context, options),
  });
  define(program, 'migrate', {
    summary: 'make the tables in the database, or bring them up to date after an upgrade',
    description:
      'Connects with `migrate_database_url` (without it: `database_url`), applies the migrations that are missing, and gives the role of `database_url` its rights: to read and add in the journal, and ordinary ones on the rest. It makes that role if it may; otherwise it prints the SQL for a superuser. Before an upgrade, stop every process of vetledger and make a backup. A database of a build before 0.1.0 with other tables is refused. `dev`, and `sync` on an embedded database, do this by themselves.',
    examples: [
      ['vetledger migrate', 'after installing, and after each upgrade'],
      ['vetledger migrate --json', 'which migrations were applied, as JSON'],
    ],
    action: async (context) => (await import('../commands/migrate.ts')).migrateCommand(context),
  });
  define<{ installation?: number }>(program, 'doctor', {
    summary: 'try each dependency, credential, permission and filter for real',
    options: [installation],
    examples: [['vetledger doctor', 'after setting up, and when something is wrong']],
    action: async (context, options) => (await import('../commands/doctor.ts')).doctor(context, options),
  });
  const budget = group(program, 'budget', 'rate budgets of the practice API');
  define<{ installation?: number; action?: string; yes?: true }>(budget, 'reset', {
    summary: 'forget the blocks and lowered limits that refusals (429) have left',
    description:
      'For a source that asked for a pause by mistake. Requests that were sent still count. A pause is 15 minutes at most without it, and ends by itself. Asks first; where there is no terminal, --yes is needed.',
    options: [
      installation,
      new Option('--action <name>', 'only this budget, as `status` names it (default: all)'),
      new Option('--yes', 'do not ask'),
    ],
    examples: [
      ['vetledger budget reset', 'all budgets of every installation'],
      ['vetledger budget reset --installation 4711 --action invoice.list --yes', 'one budget, without a question'],
    ],
    action: async (context, options) => (await import('../commands/budget.ts')).reset(context, options),
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
    action: async (context, options) => (await import('../commands/sandbox.ts')).sandbox(context, options),
  });
}
