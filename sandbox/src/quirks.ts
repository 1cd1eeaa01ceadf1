// Quirks: behaviour that the specification leaves open and in which real servers differ. The defaults follow the field
// notes.
import { z } from 'zod';

/** The name of a query parameter, such as `invoice__in`. */
const queryName = z.string().regex(/^[a-z_0-9]{1,100}$/, 'Send names of query parameters, such as "id__gt".');
const queryNames = z.array(queryName).max(100);

export const quirksSchema = z.strictObject({
  order: z
    .enum(['id', 'id_desc', 'random', 'modified'])
    .meta({ description: 'Order of every list. `random` differs from request to request, as without ORDER BY.' }),
  ignoredFilters: queryNames.meta({ description: 'Query names that are ignored, for example `id__gt`.' }),
  refusedFilters: queryNames.meta({ description: 'Query names that are answered with 400.' }),
  decimals: z
    .enum(['mixed', 'string', 'number'])
    .meta({ description: '`mixed`: numbers on invoices and rows, strings on payments and prepayments.' }),
  timestamps: z
    .enum(['offset', 'zulu', 'naive'])
    .meta({ description: 'Local time with its offset, UTC with `Z`, or local time without an offset.' }),
  invoiceDateAsDatetime: z
    .boolean()
    .meta({ description: '`invoice_date` and `invoice_due_date` as local midnight with a time.' }),
  extraFields: z.boolean().meta({ description: 'Unknown fields on every record.' }),
  defaultPageSize: z.int().min(1).max(1000).meta({ description: 'Records on a page without `page_size`.' }),
  maxPageSize: z.int().min(1).max(100_000).meta({ description: 'Records on a page at most.' }),
  countAsString: z.boolean().meta({ description: '`count` as text.' }),
  lateCommitShare: z.number().min(0).max(1).meta({
    description:
      "Share of the clinic's own transactions that appear on lists `lateCommitMs` after their ids and `modified`.",
  }),
  lateCommitMs: z.int().min(0).max(86_400_000).meta({ description: 'How much later they appear.' }),
  dateHeader: z.boolean().meta({ description: 'Whether answers carry a Date header.' }),
  paymentTouchesInvoice: z
    .boolean()
    .meta({ description: "Whether a payment or its cancellation updates the invoice's `modified`." }),
  refundLowersUnused: z.boolean().meta({ description: "Whether a refund lowers its original's `unused_amount`." }),
  externalInfo: z
    .enum(['patch', 'subresource'])
    .meta({ description: 'How `external_info` is written: PATCH of the prepayment, or its own sub-resource.' }),
  departmentSettings: z
    .enum(['ok', '403'])
    .meta({ description: 'Whether department settings can be read, or answer 403 to a working token.' }),
  consultationInvoice: z
    .enum(['final', 'draft'])
    .meta({ description: 'What finalising a consultation makes: a final invoice, or a draft that staff finalise.' }),
  urlReferences: z.enum(['absolute', 'query', 'otherHost']).meta({
    description:
      '`query`: url-references end in `?format=json`. `otherHost`: they name an internal host behind a proxy.',
  }),
  overpayments: z.boolean().meta({ description: 'Whether more can be paid on an invoice than is due.' }),
  repeatedCredits: z.boolean().meta({ description: 'Whether a row that is credited can be credited again.' }),
  creditedCreditNotes: z.boolean().meta({ description: 'Whether a credit note can be credited in turn.' }),
  strict: z.boolean().meta({
    description:
      'Whether fields and parameters that the specification does not name, and forms of values that it does not give, are refused.',
  }),
  bareIds: z.boolean().meta({ description: 'Whether an id is taken where a url-reference is due.' }),
  tokenSeconds: z.int().min(1).max(31_536_000).meta({ description: 'Lifetime of tokens issued from now on.' }),
  loopbackCallbacks: z.boolean().meta({
    description:
      "Whether a wholesaler's webhook_callback_url may be a loopback address, by http too. The service refuses them.",
  }),
});

export type Quirks = z.output<typeof quirksSchema>;

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
  overpayments: true,
  repeatedCredits: false,
  creditedCreditNotes: true,
  strict: false,
  bareIds: false,
  tokenSeconds: 36_000,
  loopbackCallbacks: false,
};
