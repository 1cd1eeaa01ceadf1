import type { RecordKind } from '../../terms.ts';
import { filterTexts } from '../../texts/reports/filters.ts';

export interface FilterUse {
  /** What vetledger does if the filter is not honoured. The text continues "without it …". */
  without: string;
  /** A filter that can replace it. It is probed only if it is needed. */
  instead?: string;
}

const ids = {
  id__gt: { without: filterTexts.pagesByNumber, instead: 'id__gte' },
  id__lt: { without: filterTexts.otherOrder, instead: 'id__lte' },
} as const;

const changes = {
  modified__gte: { without: filterTexts.wholeList },
  modified__lt: { without: filterTexts.upToPresent, instead: 'modified__lte' },
} as const;

/** Every filter that is used in requests for each list. */
export const usedFilters: Record<RecordKind, Readonly<Record<string, FilterUse>>> = {
  invoice: {
    ...ids,
    ...changes,
    invoice_date__gte: { without: filterTexts.backfillReadsAll },
  },
  row: {
    ...ids,
    modified__gte: { without: filterTexts.heldInvoicesAgain },
    modified__lt: changes.modified__lt,
    invoice__in: { without: filterTexts.invoicesOneByOne },
    invoice__is: { without: filterTexts.rowsWithWholeList },
  },
  payment: {
    ...ids,
    invoice__is: { without: filterTexts.paymentsWithWholeList },
  },
  prepayment: { ...ids, ...changes },
};
