import type { Command } from 'commander';
import type { Define } from './define.ts';
import { installation } from './options.ts';

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
}
