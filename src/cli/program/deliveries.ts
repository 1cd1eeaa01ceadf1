import { type Command, Option } from 'commander';
import type {
  AckOptions,
  DeliverCommandOptions,
  PauseOptions,
  RetryOptions,
  UndoOptions,
} from '../commands/deliver.ts';
import { type Define, group } from './define.ts';
import { defineLateCommands } from './late.ts';
import { calendarDate, installation, option, wholeNumber } from './options.ts';

const by = new Option('--by <name>', 'who answers for it (default: the user of the operating system)');
const wait = option(
  '--wait <seconds>',
  'end when the ERP has refused to work, or not answered, for so long',
  wholeNumber,
).default(60);

/** Commands about the delivery to ERPs: deliver, and what is done to deliveries. */
export function defineDeliveryCommands(program: Command, define: Define): void {
  const deliver = define<DeliverCommandOptions>(program, 'deliver', {
    summary: 'deliver what is due to the ERP now, waited for',
    description:
      'Delivery goes on by itself behind each window while `vetledger run` is up; this does it now, and waits. What a first load or a backfill brought is sent after consent: --approve gives it for everything dated up to a day. Exit code 3 when the ERP cannot be worked with.',
    options: [
      installation,
      new Option('--dry-run', 'only say what would be sent, and what the mapping lacks for it'),
      new Option('--approve', 'consent to what first loads and backfills brought, dated up to --through'),
      option('--through <date>', 'last date of what is approved (YYYY-MM-DD)', calendarDate),
      new Option('--yes', 'do not ask'),
      by,
      wait,
    ],
    examples: [
      ['vetledger deliver --dry-run', 'what would be sent, and what is lacking'],
      ['vetledger deliver --approve --through 2026-03-31', 'the first quarter of a first load'],
      ['vetledger deliver --json', 'what is due, the figures as JSON'],
    ],
    action: async (context, options) => (await import('../commands/deliver.ts')).deliver(context, options),
  });
  define<RetryOptions>(deliver, 'retry [id...]', {
    summary: 'send refused or undone entries again',
    description:
      'A refused entry is not sent again by itself, since a refusal that is repeated may block the API user. Each is looked up in the ERP first: one that is there is compared, never sent twice. Ids are those that `vetledger problems` prints.',
    options: [installation, new Option('--all', 'every refused entry'), by, wait],
    examples: [
      ['vetledger deliver retry 4711/invoice/123/1', 'once the account is open again'],
      ['vetledger deliver retry --all --installation 4711', 'all of an installation'],
    ],
    action: async (context, options, ids) => (await import('../commands/deliver.ts')).retry(context, options, ids),
  });
  define<AckOptions>(deliver, 'ack <batch...>', {
    summary: 'note that a batch of files was read in',
    description:
      'For installations that are delivered as files: whoever gets the files says that a batch is in their books. Its entries are then acknowledged. Batches are named as their files: 4711-000001.',
    options: [new Option('--reason <text>', 'what they said; it is recorded'), by],
    examples: [
      ['vetledger deliver ack 4711-000001 4711-000002 --by "Bo, the adviser"', 'the first two batches are in'],
    ],
    action: async (context, options, batches) =>
      (await import('../commands/deliver.ts')).ack(context, options, batches),
  });
  define<UndoOptions>(deliver, 'undo', {
    summary: 'reverse in the ERP what was delivered, by date',
    description:
      'For what was delivered by mistake, such as a first load into the wrong company. Each entry of these dates that the ERP has is reversed there by an entry of its own on the same date; what was not sent yet is kept from it. Our own books stay as they are, and a later correction of such a document does not reverse it again. `vetledger deliver retry ID` sends an undone entry again. Asks first; where there is no terminal, --yes is needed.',
    options: [
      installation,
      option('--from <date>', 'first entry date (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
      option('--to <date>', 'last entry date (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
      new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(),
      by,
      new Option('--yes', 'do not ask'),
      wait,
    ],
    examples: [
      [
        'vetledger deliver undo --from 2025-01-01 --to 2025-12-31 --reason "the year was entered by hand"',
        'one year, every installation',
      ],
    ],
    action: async (context, options) => (await import('../commands/deliver.ts')).undo(context, options),
  });
  define<PauseOptions>(deliver, 'pause', {
    summary: 'hold the delivery; windows go on',
    options: [installation, new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(), by],
    examples: [['vetledger deliver pause --reason "the accountant closes the year"', 'nothing is sent meanwhile']],
    action: async (context, options) => (await import('../commands/deliver.ts')).pause(context, options),
  });
  define<{ installation?: number; by?: string }>(deliver, 'resume', {
    summary: 'let a paused delivery go on',
    options: [installation, by],
    examples: [['vetledger deliver resume', 'every installation']],
    action: async (context, options) => (await import('../commands/deliver.ts')).resume(context, options),
  });
  defineLateCommands(program, define);
  const erp = group(program, 'erp', 'ERPs that entries are delivered to');
  define<{ installation?: number }>(erp, 'check', {
    summary: 'try in the ERP what entries need of it',
    description:
      'Tries for real: the connection, the rights of the API user, and each account, tax code, dimension value, journal, party and period that the mapping and the books use. An entry that balances must be taken, one that does not and one in a closed period must be refused; all are removed again. Says for each fault what to do; exit code 1 where there is one.',
    options: [installation],
    examples: [
      ['vetledger erp check', 'after setting up, and when entries are refused'],
      ['vetledger erp check --installation 4711 --json', 'one installation, as JSON'],
    ],
    action: async (context, options) => (await import('../commands/erp.ts')).check(context, options),
  });
}
