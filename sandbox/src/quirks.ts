// Quirks: behaviour that the specification leaves open and in which real servers differ. The defaults follow the field
// notes.
import { z } from 'zod';

/** The name of a query parameter, such as `invoice__in`. */
const queryName = z.string().regex(/^[a-z_0-9]{1,100}$/, 'Send names of query parameters, such as "id__gt".');
const queryNames = z.array(queryName).max(100);

export const quirksSchema = z.strictObject({
  order: z
    .enum(['id', 'id_desc', 'random', 'modified'])
    .meta({ description: 'The order of every list. `random`: each request gets another order.' }),
  ignoredFilters: queryNames.meta({ description: 'Query parameters that the server ignores, for example `id__gt`.' }),
  refusedFilters: queryNames.meta({ description: 'Query parameters that the server refuses with 400.' }),
  decimals: z.enum(['mixed', 'string', 'number']).meta({
    description: 'The form of amounts. `mixed`: numbers on invoices and rows, strings on payments and prepayments.',
  }),
  timestamps: z.enum(['offset', 'zulu', 'naive']).meta({
    description: 'The form of timestamps: local time with its offset, UTC with `Z`, or local time without an offset.',
  }),
  invoiceDateAsDatetime: z
    .boolean()
    .meta({ description: 'Whether `invoice_date` and `invoice_due_date` are timestamps of local midnight.' }),
  extraFields: z.boolean().meta({ description: 'Whether every record has unknown fields.' }),
  defaultPageSize: z
    .int()
    .min(1)
    .max(1000)
    .meta({ description: 'The number of records on a page without `page_size`.' }),
  maxPageSize: z.int().min(1).max(100_000).meta({ description: 'The maximum number of records on a page.' }),
  countAsString: z.boolean().meta({ description: 'Whether `count` is text.' }),
  lateCommitShare: z.number().min(0).max(1).meta({
    description:
      "The share of the clinic's transactions that lists show late: `lateCommitMs` after their ids and `modified`.",
  }),
  lateCommitMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .meta({ description: 'The delay of these transactions in milliseconds.' }),
  dateHeader: z.boolean().meta({ description: 'Whether answers have a Date header.' }),
  paymentTouchesInvoice: z
    .boolean()
    .meta({ description: "Whether a payment or its cancellation updates the invoice's `modified`." }),
  refundLowersUnused: z.boolean().meta({ description: "Whether a refund lowers its original's `unused_amount`." }),
  externalInfo: z
    .enum(['patch', 'subresource'])
    .meta({ description: 'How `external_info` is written: with PATCH of the prepayment, or as a sub-resource.' }),
  departmentSettings: z
    .enum(['ok', '403'])
    .meta({ description: 'Whether department settings can be read. `403`: the server refuses a valid token.' }),
  consultationInvoice: z
    .enum(['final', 'draft'])
    .meta({ description: 'The invoice of a finalised consultation: final, or a draft that staff finalise.' }),
  urlReferences: z.enum(['absolute', 'query', 'otherHost']).meta({
    description:
      'The form of url-references. `query`: they end in `?format=json`. `otherHost`: they name an internal host behind a proxy.',
  }),
  overpayments: z.boolean().meta({ description: 'Whether a payment can exceed the amount due on its invoice.' }),
  repeatedCredits: z.boolean().meta({ description: 'Whether a credited row can be credited again.' }),
  creditedCreditNotes: z.boolean().meta({ description: 'Whether a credit note can be credited.' }),
  strict: z.boolean().meta({
    description:
      'Whether the server refuses fields, parameters and forms of values that the specification does not name.',
  }),
  bareIds: z.boolean().meta({ description: 'Whether the server accepts an id instead of a url-reference.' }),
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
