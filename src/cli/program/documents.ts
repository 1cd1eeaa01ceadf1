import { type Command, Option } from 'commander';
import type { PreviewOptions } from '../commands/preview.ts';
import type { RepostCommandOptions } from '../commands/repost.ts';
import type { Define } from './define.ts';
import { calendarDate, installation, option } from './options.ts';

/** Commands about documents and their problems: status, problems, explain, preview, repost. */
export function defineDocumentCommands(program: Command, define: Define): void {
  define<{ installation?: number }>(program, 'explain <kind> [id]', {
    summary: 'one document from source to books: proofs, rules, entries, write-back',
    description:
      'Kind is invoice, payment or prepayment; id is the document’s id in the practice software or, for an invoice, its number with or without prefix, posted or held. One name alone is an entry code (4711/invoice/1001/1), an id or a number; where it means several documents, they are listed. With a kind, an id goes before a number. Times are local times of the installation’s zone.',
    options: [installation],
    examples: [
      ['vetledger explain invoice 123', 'why it is in the books as it is, or why not'],
      ['vetledger explain invoice H-1001', 'by the number printed on it'],
      ['vetledger explain 4711/payment/12/1', 'by the code of an entry, as exports and the ERP show it'],
      ['vetledger explain prepayment 7 --json', 'its uses and refunds, and who set a match, as JSON'],
    ],
    action: async (context, options, names) =>
      (await import('../commands/explain.ts')).explain(context, options, names),
  });
  define<PreviewOptions>(program, 'preview', {
    summary: 'what the next window would post, or what another mapping would change; writes nothing',
    description:
      'Judges every document that waits, by what is here now, and prints what it comes to by account, month and VAT period; with --details then the entries, what would be held and why. With --mapping: the same by that mapping, and what it would post differently of what is in the books, with the amounts it moves between accounts. A process at work by another mapping is named. A window also pulls what has changed in the source since the last one.',
    options: [
      installation,
      new Option('--mapping <file>', 'by this mapping instead of the configured one'),
      new Option('--details', 'every document, after the summary (--json always has them)'),
    ],
    examples: [
      ['vetledger preview', 'before the next window'],
      ['vetledger preview --details', 'with every entry'],
      ['vetledger preview --mapping mappings/new.yaml', 'before a changed mapping is put to use'],
    ],
    action: async (context, options) => (await import('../commands/preview.ts')).preview(context, options),
  });
  define<RepostCommandOptions>(program, 'repost', {
    summary: 'post corrections after a changed mapping',
    description:
      'A changed mapping by itself changes nothing that is in the books. This reverses each document whose lines come out differently by the configured mapping and posts it anew, both with the reason `mapping_changed`. Closed periods are heeded as `policies.locked_period` says. It never runs beside a window; posting again posts nothing. It says first what it will post, and asks; without a terminal, --yes is needed. Where there is nothing to post, nothing is asked and the mapping is not taken into use; with --yes the remarks beside the documents are renewed all the same. A daemon at work then reads the changed mapping file again by itself; one that works by another mapping is named.',
    options: [
      new Option('--document <document...>', 'only these (invoice 123, or 4711/invoice/123; several may follow)'),
      option('--from <date>', 'only documents dated from this day on (YYYY-MM-DD)', calendarDate),
      option('--to <date>', 'only documents dated up to this day (YYYY-MM-DD)', calendarDate),
      new Option('--all', 'every document in the books'),
      installation,
      new Option('--dry-run', 'only print what would be posted; of every document unless some are named'),
      new Option('--details', 'every document, before the summary (--json and --document always have them)'),
      new Option('--yes', 'do not ask'),
    ],
    examples: [
      ['vetledger repost --dry-run', 'what would be posted'],
      ['vetledger repost --all', 'everything, after a question'],
      ['vetledger repost --from 2026-01-01 --to 2026-01-31', 'one month'],
      ['vetledger repost --document invoice 123', 'one document'],
    ],
    action: async (context, options) => (await import('../commands/repost.ts')).repost(context, options),
  });
}
