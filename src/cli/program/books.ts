import { type Command, Option } from 'commander';
import type { ExportCommandOptions } from '../commands/export.ts';
import type { ReconcileCommandOptions } from '../commands/reconcile.ts';
import type { Define } from './define.ts';
import { calendarDate, installation, option } from './options.ts';

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
