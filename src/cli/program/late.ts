import { type Command, Option } from 'commander';
import type { DecideOptions } from '../commands/late.ts';
import type { Define } from './define.ts';
import { installation, option, wholeNumber } from './options.ts';

/** Commands about what is late: documents that a lock or their date keeps out of the books, entries that an ERP does not take. */
export function defineLateCommands(program: Command, define: Define): void {
  const listed = {
    options: [installation],
    action: async (context, options) => (await import('../commands/late.ts')).list(context, options),
  } satisfies Pick<Parameters<typeof define<{ installation?: number }>>[2], 'options' | 'action'>;
  const late = define<{ installation?: number }>(program, 'late', {
    summary: 'late documents, and entries that a closed period of the ERP holds: each waits for a decision',
    description:
      'A document is late when its date, or that of its entry in force, lies in a closed period, or when it was dated long before it was recorded, or before start_date. Listed, too, are posted documents that the source does not show any more. One that was late when our own books were closed is never posted by reopening them, only by its decision.',
    ...listed,
    examples: [
      ['vetledger late', 'what there is to decide, and what was decided'],
      ['vetledger late decide 4711/invoice/123 --redate --reason "came after the close"', 'one document'],
    ],
  });
  define<{ installation?: number }>(late, 'list', {
    summary: 'the same as `vetledger late`',
    ...listed,
    examples: [['vetledger late list', 'what there is to decide']],
  });
  define<DecideOptions>(late, 'decide [id...]', {
    summary: 'decide about late documents, and about those that the source does not show any more',
    description:
      'A decision holds for the version of the document that it was made on, and has a name, a reason and a time, which `vetledger explain` shows; the next window heeds it. Of an entry (its id has a number at the end) or a daily summary whose period the ERP closed before it was sent, only --redate can be decided: it is reversed in our books at its own date and posted anew on the first open day; the entry and its reversal, of which neither was sent, are settled against each other, and E7 lists them. One that was taken out of the books meanwhile is settled with its reversal alone. Of a daily summary, each entry is reversed and posted anew so, in a summary of their own on the open day; decide a day’s summary and its supplements together. A posted document that the source does not show any more is reversed by --confirm-gone only. With --filter, a comma-separated list of code=CODE, kind=KIND, from=DATE and to=DATE, all documents of `vetledger late` that match are decided; --number says how many there are, and nothing is decided where there are others by then. Where the ERP’s period is opened again, `vetledger deliver retry` sends the entries as they are.',
    options: [
      installation,
      new Option('--redate', 'post it on the first open day'),
      new Option('--as-dated', 'post it on its own date, once the period is open'),
      new Option('--wait', 'leave it out of the books for now'),
      new Option('--accept-date', 'its date is right, though it lies long before it was recorded'),
      new Option('--confirm-gone', 'it is gone from the source for good: it is reversed'),
      new Option('--filter <conditions>', 'instead of ids: code=CODE,kind=KIND,from=DATE,to=DATE'),
      option('--number <n>', 'with --filter: how many documents that are', wholeNumber),
      new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(),
      new Option('--by <name>', 'who answers for it (default: the user of the operating system)'),
    ],
    examples: [
      ['vetledger late decide 4711/invoice/123 --redate --reason "came after the close"', 'on the first open day'],
      ['vetledger late decide 4711/invoice/123 --as-dated --reason "belongs to January"', 'once January is open'],
      ['vetledger late decide 4711/invoice/9 --accept-date --reason "an old case, billed now"', 'an old date'],
      ['vetledger late decide 4711/payment/7 --confirm-gone --reason "deleted by Anna"', 'gone for good'],
      [
        'vetledger late decide --filter code=source_shrank,kind=invoice --number 27 --confirm-gone --reason "test data"',
        'many at once',
      ],
      ['vetledger late decide 4711/invoice/123/1 --redate --reason "March is declared"', 'an entry'],
      ['vetledger late decide 4711/summary/2026-03-31-11/1 --redate --reason "March is declared"', 'a day’s summary'],
    ],
    action: async (context, options, ids) => (await import('../commands/late.ts')).decide(context, options, ids),
  });
}
