import { vatPeriodEnd } from '../domain/vat-period.ts';
import { mappingVersionText } from '../ledger/journal/entry-records.ts';
import { type DailySummary, type SummaryLine, summaryDescription } from '../ledger/summaries/summary.ts';
import { paymentTypeTitle } from '../mapping/payment-types.ts';
import type { CalendarDate } from '../terms.ts';
import { entryDescriptions } from '../texts/entries.ts';

/** The text of a summary with the time at which it was made, and the mappings of its entries. */
export function recordedSummaryText(summary: DailySummary): string {
  const { recordedAt, mappings } = summary.record;
  return entryDescriptions.recordedSummary({
    description: summaryDescription(summary),
    at: recordedAt.toISOString().slice(0, 16).replace('T', ' '),
    mappings: mappings.map(mappingVersionText).join(entryDescriptions.and),
  });
}

/** Payment types may share an account, so the text of a line names its type, for comparison with the till's report. */
export function paymentTypeText({ paymentType }: SummaryLine): string[] {
  return paymentType === null ? [] : [`(${paymentTypeTitle(paymentType)})`];
}

/** The last day on which the documents of a summary can be dated: redated ones belong to an earlier VAT period. */
export function lastDocumentDay({ date, vatPeriod }: DailySummary): CalendarDate {
  const end = vatPeriodEnd(vatPeriod);
  return date < end ? date : end;
}
