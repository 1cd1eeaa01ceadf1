// Behaviour that the specification leaves open and in which real servers differ. The defaults follow the field notes.
import type { TimestampStyle } from './zone.ts';

export interface Quirks {
  /** Order of every list. `random` differs from request to request, as without ORDER BY. */
  order: 'id' | 'id_desc' | 'random' | 'modified';
  /** Query names that are silently ignored, for example `id__gt` or `invoice__in`. */
  ignoredFilters: string[];
  /** Query names that are answered with 400. */
  refusedFilters: string[];
  /** `mixed`: numbers on invoices and rows, strings on payments and prepayments. */
  decimals: 'mixed' | 'string' | 'number';
  timestamps: TimestampStyle;
  /** `invoice_date` and `invoice_due_date` as local midnight with a time. */
  invoiceDateAsDatetime: boolean;
  /** Unknown fields on every record. */
  extraFields: boolean;
  defaultPageSize: number;
  maxPageSize: number;
  /** `count` as text. */
  countAsString: boolean;
  /** Share (0 to 1) of the clinic's own transactions that become visible on lists `lateCommitMs` after their ids and `modified`. */
  lateCommitShare: number;
  lateCommitMs: number;
  dateHeader: boolean;
  /** Whether a payment or its cancellation updates the invoice's `modified`. */
  paymentTouchesInvoice: boolean;
  /** Whether a refund lowers its original's `unused_amount`. */
  refundLowersUnused: boolean;
  /** How `external_info` is written: PATCH of the prepayment, or its own sub-resource. */
  externalInfo: 'patch' | 'subresource';
  departmentSettings: 'ok' | '403';
  /** What finalising a consultation makes: an invoice that is final at once, or a draft that staff finalise. */
  consultationInvoice: 'final' | 'draft';
  /** `query`: url-references end in `?format=json`. `otherHost`: they name an internal host behind a proxy. */
  urlReferences: 'absolute' | 'query' | 'otherHost';
  /** Lifetime of tokens issued from now on; default 10 h. */
  tokenSeconds: number;
  /** Whether a wholesaler's webhook_callback_url may be a loopback address, by http too. For tests; the service refuses them. */
  loopbackCallbacks: boolean;
}

export const defaultQuirks: Quirks = {
  order: 'id',
  ignoredFilters: [],
  refusedFilters: [],
  decimals: 'mixed',
  timestamps: 'offset',
  invoiceDateAsDatetime: false,
  extraFields: false,
  defaultPageSize: 50,
  maxPageSize: 1000,
  countAsString: false,
  lateCommitShare: 0,
  lateCommitMs: 5000,
  dateHeader: true,
  paymentTouchesInvoice: true,
  refundLowersUnused: true,
  externalInfo: 'patch',
  departmentSettings: 'ok',
  consultationInvoice: 'final',
  urlReferences: 'absolute',
  tokenSeconds: 36_000,
  loopbackCallbacks: false,
};
