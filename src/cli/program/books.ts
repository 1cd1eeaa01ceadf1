import { type Command, Option } from 'commander';
import type { AdoptOptions } from '../commands/adopt.ts';
import type { AdoptCopyOptions } from '../commands/adopt-copy.ts';
import type { CloseCommandOptions, ReopenCommandOptions } from '../commands/closing.ts';
import type { EraseOptions } from '../commands/erase.ts';
import type { ExportCommandOptions } from '../commands/export.ts';
import type { VerifyOptions } from '../commands/ledger.ts';
import type { ReconcileCommandOptions } from '../commands/reconcile.ts';
import { type Define, group } from './define.ts';
import { calendarDate, installation, option, sha256, wholeNumber } from './options.ts';

/** Commands about the books as a whole: reconcile, ledger, adopt, export. */
export function defineBookCommands(program: Command, define: Define): void {
  define<ReconcileCommandOptions>(program, 'reconcile', {
    summary: 'the equations E1-E10 over the whole books; exit code 1 on a difference',
    description:
      'Says two things: whether what is posted is right (reconciled: the equations), and whether all of it is posted (complete), with count, amount, VAT and oldest date of what is not, per kind of document. With --erp, the entries in the ERP are read back and compared with what was delivered (E7): what was changed, deleted or added by hand is named; it is complete only when every entry is in the ERP. Only what has changed since the last time is read; everything once a week, and with --full.',
    options: [
      installation,
      new Option('--erp', 'read back what the ERP holds, too (E7)'),
      new Option('--full', 'with --erp: read back everything'),
      new Option(
        '--complete',
        'exit code 1, too, when a document is held, late, changed after posting, not shown by the source any more or not judged yet, or when nothing is posted; with --erp also when an entry is refused or not delivered yet',
      ),
    ],
    examples: [
      ['vetledger reconcile', 'trial balance, states and equations'],
      ['vetledger reconcile --json', 'the same as JSON'],
      ['vetledger reconcile --complete', 'for a script that signs the month only when nothing is left out'],
      ['vetledger reconcile --erp --full', 'and everything that the ERP holds'],
    ],
    action: async (context, options) => (await import('../commands/reconcile.ts')).reconcile(context, options),
  });
  const ledger = group(program, 'ledger', 'our own books');
  define<VerifyOptions>(ledger, 'verify', {
    summary: 'check the hash chain of the journal; exit code 1 when it is broken',
    description:
      'Finds entries, closes and daily summaries that are not as they were written. Whoever may change the whole database can write a chain anew that is whole: only a hash kept elsewhere (`--head`) or seals (`seal_key`, `--public-key`) show that, up to the entry that they are of.',
    options: [
      installation,
      option('--head <hash>', 'exit code 1, too, when this hash, noted before, is not in the chain', sha256),
      new Option('--public-key <file>', 'check all seals with this Ed25519 public key (PEM) against the chain'),
      new Option(
        '--export <file>',
        'check with --public-key that this file is as it was exported, from these books (CSV: with what `export` wrote to stderr in <file>.seal)',
      ),
    ],
    examples: [
      ['vetledger ledger verify', 'the chain is whole'],
      ['vetledger ledger verify --public-key seal-public.pem', 'the books go through every head that was sealed'],
      ['vetledger ledger verify --export january.journal --public-key seal-public.pem', 'the file is as exported'],
    ],
    action: async (context, options) => (await import('../commands/ledger.ts')).verify(context, options),
  });
  const by = new Option('--by <name>', 'who answers for it (default: the user of the operating system)');
  const second = new Option('--second <name>', 'the second person, where the configuration says `two_persons: true`');
  const yes = new Option('--yes', 'do not ask');
  define<CloseCommandOptions>(ledger, 'close', {
    summary: 'close our own books through a day, after a checklist',
    description:
      'Prints first what an accountant looks at: the last window, held and late documents, drafts dated in the month, what is not in the ERP, differences, clearing accounts, unused prepayments and liabilities in debit. Then it asks; without a terminal, --yes is needed. Nothing is posted on or before that day any more; `policies.locked_period` of the mapping says what happens to documents dated in it, and `vetledger late` lists those that wait. Who closed, and the checklist, are stored with the close as a link of the chain.',
    options: [
      option('--through <date>', 'the last closed day (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
      installation,
      new Option('--dry-run', 'only print the checklist'),
      by,
      second,
      yes,
    ],
    examples: [
      ['vetledger ledger close --through 2026-01-31 --dry-run', 'what there is to look at in January'],
      ['vetledger ledger close --through 2026-01-31 --by "M. Virtanen"', 'January is done'],
      ['vetledger ledger close --through 2026-01-31 --by "M. Virtanen" --second "A. Laine" --yes', 'by two persons'],
    ],
    action: async (context, options) => (await import('../commands/closing.ts')).close(context, options),
  });
  define<ReopenCommandOptions>(ledger, 'reopen', {
    summary: 'open our own books again from a day on',
    description:
      'A link of the chain says who opened them again, when and why. Documents that were late when the period was closed are not posted by it: each is decided with `vetledger late decide`. A period that an ERP has closed is opened in the ERP. Asks first; without a terminal, --yes is needed.',
    options: [
      option('--from <date>', 'the first day that is open again (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
      new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(),
      installation,
      by,
      second,
      yes,
    ],
    examples: [
      [
        'vetledger ledger reopen --from 2026-01-01 --reason "the bank statement of January was wrong" --by "M. Virtanen"',
        'January is open again',
      ],
    ],
    action: async (context, options) => (await import('../commands/closing.ts')).reopen(context, options),
  });
  define<{ installation?: number }>(ledger, 'closes', {
    summary: 'when our own books were closed and reopened, by whom, with which checklist',
    options: [installation],
    examples: [
      ['vetledger ledger closes', 'who closed what'],
      ['vetledger ledger closes --json', 'with the checklists as they were stored'],
    ],
    action: async (context, options) => (await import('../commands/closing.ts')).closes(context, options),
  });
  define<AdoptOptions & AdoptCopyOptions>(program, 'adopt', {
    summary:
      'take a moved practice API or time zone into the books, adopt another database’s entries in the ERP, or say what a copy of the database is for',
    description:
      'Currency, time zone and the address of the practice API (scheme, host, port) are noted with an installation’s first entry. A configuration that says otherwise opens no window: another clinic’s documents must not get into these books. Where it is the same clinic all the same, this records old, new, reason, name and time, and goes on with the new. A changed currency cannot be adopted. Where another database of vetledger has entries of the installation in its ERP (`erp_company_foreign`), they are adopted, too: an entry of theirs then stands for ours of the same id, and delivery goes on. --restored and --copy are for a database that was noticed to be a copy (`database_copied`): with --restored it takes the place of its original, which is gone and refuses to start from then on; with --copy it gets names of its own in Temporal, and never writes into an ERP or practice API of its original. Both ask first; where there is no terminal, --yes is needed.',
    options: [
      option(
        '--installation <id>',
        'the installation whose settings have changed, or whose company has another database’s entries',
        wholeNumber,
      ),
      new Option('--restored', 'this database takes the place of its original, which is gone'),
      new Option('--copy', 'this database is a copy to try things on'),
      new Option('--reason <text>', 'why the change is right; it is recorded').makeOptionMandatory(),
      new Option('--by <name>', 'who answers for it (default: the user of the operating system)'),
      new Option('--yes', 'do it; without, only say what would change'),
    ],
    examples: [
      ['vetledger adopt --installation 4711 --reason "the clinic moved to another server"', 'what would change'],
      ['vetledger adopt --installation 4711 --reason "new server" --by "M. Virtanen" --yes', 'take it into the books'],
      [
        'vetledger adopt --installation 4711 --reason "the old server is gone" --yes',
        'go on in its company of the ERP',
      ],
      ['vetledger adopt --restored --reason "disk failure on 3 May"', 'after a backup was restored'],
      ['vetledger adopt --copy --reason "trying the upgrade"', 'a copy for trials'],
    ],
    action: async (context, options) =>
      options.restored || options.copy
        ? (await import('../commands/adopt-copy.ts')).adoptCopy(context, options)
        : (await import('../commands/adopt.ts')).adopt(context, options),
  });
  const erase = group(program, 'erase', 'personal data');
  define<EraseOptions>(erase, 'client <id>', {
    summary: 'erase a client’s names and addresses; amounts stay',
    description:
      'Names and addresses go from the mirror’s invoices, their earlier versions and the entries. Amounts, the client’s id, VAT number and country stay, as the law on books demands, and so does a record of the erasure with reason, name and time. The hash chain stays whole. Erase them in the practice software first.',
    options: [
      installation,
      new Option('--reason <text>', 'why; it is recorded, so it must not hold the name').makeOptionMandatory(),
      new Option('--by <name>', 'who answers for it (default: the user of the operating system)'),
      new Option('--yes', 'do it; without, nothing is erased'),
    ],
    examples: [['vetledger erase client 2007 --reason "asked for on 2026-05-04" --yes', 'the names of client 2007']],
    action: async (context, options, [id = '']) =>
      (await import('../commands/erase.ts')).eraseNames(context, options, id),
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
      new Option('--all', 'with csv: all installations in one table'),
      new Option('--out <file>', 'write to this file, whole or not at all (default: stdout)'),
    ],
    examples: [
      ['vetledger export --format hledger | hledger -f - balance', 'the trial balance by another program'],
      ['vetledger export --format csv --from 2026-01-01 --to 2026-01-31 --out january.csv', 'one month as a table'],
    ],
    action: async (context, options) => (await import('../commands/export.ts')).exportJournal(context, options),
  });
}
