import { z } from 'zod';
import { visible } from '../../domain/text.ts';
import type { BooksHead } from '../../ledger/head.ts';

const link = z.strictObject({ seq: z.number(), hash: z.string() });

/** The head of an installation's books: the last links of its two chains. */
export const headAnswer = z.strictObject({
  entries: z.number(),
  head: link,
  summaries: z.number(),
  summary_head: link,
});

/** A head as fields of a result. */
export function headFields({ entries, seq, hash, summaries, summaryHash }: BooksHead) {
  return { entries, head: { seq, hash }, summaries, summary_head: { seq: summaries, hash: summaryHash } };
}

export function headText(head: { seq: number; hash: string }, summaryHead: { seq: number; hash: string }): string {
  const ofSummaries = summaryHead.seq > 0 ? `; of the daily summaries: ${summaryHead.seq}, ${summaryHead.hash}` : '';
  return `  head: link ${head.seq}, ${head.hash}${ofSummaries}`;
}

/** The one who answers for it, and the second person where there is one. */
export function personsText({ by, second }: { by: string; second: string | null }): string {
  return visible(second === null ? by : `${by} and ${second}`);
}
