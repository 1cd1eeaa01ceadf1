import { z } from 'zod';
import type { BooksHead } from '../../ledger/head.ts';
import { headTexts } from '../../texts/commands/closing.ts';

const link = z.strictObject({ seq: z.number(), hash: z.string() });

/** The head of the books: the last links of the two chains, entries and daily summaries. */
export const headAnswer = z.strictObject({
  entries: z.number(),
  head: link,
  summaries: z.number(),
  summary_head: link,
});

/** The JSON fields of a head. */
export function headFields({ entries, seq, hash, summaries, summaryHash }: BooksHead) {
  return { entries, head: { seq, hash }, summaries, summary_head: { seq: summaries, hash: summaryHash } };
}

export function headText(head: { seq: number; hash: string }, summaryHead: { seq: number; hash: string }): string {
  const ofSummaries = summaryHead.seq > 0 ? headTexts.ofSummaries(summaryHead) : '';
  return `  ${headTexts.head(head)}${ofSummaries}`;
}
