import type { RecordKind } from '../../terms.ts';

export interface FilterUse {
  /** What is done where the filter is not honoured; continues "without it …". */
  without: string;
  /** A filter that takes its place; probed only where it is needed. */
  instead?: string;
}

const ids = {
  id__gt: { without: 'its pages are walked by number, and it may hold 10,000 records', instead: 'id__gte' },
  id__lt: { without: 'pages in another order than by id are walked by number', instead: 'id__lte' },
} as const;

const changes = {
  modified__gte: { without: 'each window reads the whole list' },
  modified__lt: { without: 'an interval of the past is read on to the present', instead: 'modified__lte' },
} as const;

/** Every filter that each list is requested with. */
export const usedFilters: Record<RecordKind, Readonly<Record<string, FilterUse>>> = {
  invoice: {
    ...ids,
    ...changes,
    invoice_date__gte: { without: '`backfill --from` reads the whole list' },
  },
  row: {
    ...ids,
    modified__gte: {
      without: 'rows that come after their invoice are found by asking for those of held invoices again',
    },
    modified__lt: changes.modified__lt,
    invoice__in: { without: 'rows are asked for one invoice at a time, or all together where that weighs less' },
    invoice__is: { without: 'where `invoice__in` is not honoured either, an invoice’s rows come with the whole list' },
  },
  payment: {
    ...ids,
    invoice__is: { without: 'the payments of an invoice whose proofs failed come with the whole list' },
  },
  prepayment: { ...ids, ...changes },
};
