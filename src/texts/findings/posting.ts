import { catalogue } from '../catalogue.ts';

/** Messages of problems and remarks on the documents that posting judges. Most follow the document's name. */
export const postingFindings = catalogue('findings/posting.postingFindings', {
  missingInSource: ({ name, since, evidence }: Record<'name' | 'since' | 'evidence', string>): string =>
    `${name}: the source’s list has not shown it since ${since}; ${evidence}; it stays posted`,
  noRecordForId: 'a request for its id returned no record',
  idNotRequested: 'its id was not requested',
  missingRows: ({ name, noun, rows }: Record<'name' | 'noun' | 'rows', string>): string =>
    `${name}: the source no longer shows its ${noun} ${rows}, and its \`modified\` has not changed; it stays posted`,
  row: 'row',
  rows: 'rows',
  andMore: ({ few, more }: { few: string; more: number }): string => `${few} and ${more} more`,
  payerNameChanged: ({ entryId }: { entryId: string }): string =>
    `the payer’s name in the source differs from the name in ${entryId}`,

  // Fields of the record
  named: ({ name, message }: Record<'name' | 'message', string>): string => `${name}: ${message}`,
  field: ({ field, message }: Record<'field' | 'message', string>): string => `${field} ${message}`,
  fieldOfRow: ({ row, field, message }: Record<'field' | 'message', string> & { row: number }): string =>
    `row ${row}: ${field} ${message}`,
  fieldOfInvoice: ({ invoice, field, message }: Record<'field' | 'message', string> & { invoice: number }): string =>
    `its invoice ${invoice}: ${field} ${message}`,
  amountOfRow: ({ row, field }: { row: number; field: string }): string => `row ${row}: ${field}`,
  absent: ({ field }: { field: string }): string => `${field} is absent`,
  tooPrecise: ({
    field,
    amount,
    currency,
    decimals,
  }: Record<'field' | 'amount' | 'currency', string> & { decimals: number }): string =>
    `${field} is ${amount}, but ${currency} has ${decimals} decimals`,
  notADate: ({ field, text }: Record<'field' | 'text', string>): string => `${field} is not a date (${text})`,
  invoiceDate: 'the invoice date',
  dueDate: 'the due date of the invoice',
  dateOfItsInvoice: 'the date of its invoice',
  statusUnknown: ({ status }: { status: string | number }): string => `its status is ${status}`,
  noStatus: 'its status is absent',
  noInvoice: 'it names no invoice',
  invoiceUnknown: ({ invoice }: { invoice: number }): string => `its invoice ${invoice} has not been read yet`,
  noPaymentType: 'it names no payment type',
  paymentTypeRefused: ({ type }: { type: number }): string => `its payment type is ${type}`,
  noClient: 'it names no client',
  noCashCustomer: 'there is no client, and the mapping has no cash_customer',

  // Dates
  datedBeforeStart: ({ date, startDate }: Record<'date' | 'startDate', string>): string =>
    `it is dated ${date}, before start_date ${startDate}`,
  gone: ({ dated }: { dated: string }): string => `${dated}, and is gone from the source`,
  createdOn: ({ dated, at }: Record<'dated' | 'at', string>): string => `${dated}, but was created on ${at}`,
  changedOn: ({ dated, at }: Record<'dated' | 'at', string>): string => `${dated}, but was changed on ${at}`,
  voidedOn: ({ dated, at }: Record<'dated' | 'at', string>): string => `${dated}, but was voided on ${at}`,
  recordedOn: ({ dated, at }: Record<'dated' | 'at', string>): string => `${dated}, but was recorded on ${at}`,
  recordedLater: ({ dated }: { dated: string }): string => `${dated}, but was recorded on that day or later`,
  statusSince: ({ dated, status, at }: Record<'dated' | 'status' | 'at', string>): string =>
    `${dated}, and has had the status ${status} since ${at}`,
  inFuture: ({ date, today }: Record<'date' | 'today', string>): string => `it is dated ${date}, but today is ${today}`,
  tooOld: ({ date, months, recorded }: Record<'date' | 'recorded', string> & { months: number }): string =>
    `it is dated ${date}, more than ${months} months before it was recorded on ${recorded}`,
  postedBeforeNewStart: ({ entryId, startDate }: Record<'entryId' | 'startDate', string>): string =>
    `${entryId} is in the books, but is dated before the new start_date ${startDate}`,

  // Amounts and references (P1, P3, P6)
  net: 'net',
  vat: 'VAT',
  withVat: 'with VAT',
  rowsAndTotal: ({ rows, what, total }: Record<'rows' | 'what' | 'total', string>): string =>
    `the rows add up to ${rows} ${what}, but the document has ${total}`,
  rowAmounts: ({ row, net, vat, total }: Record<'net' | 'vat' | 'total', string> & { row: number }): string =>
    `row ${row}: ${net} + ${vat} is not ${total}`,
  documentAmounts: ({ net, vat, total }: Record<'net' | 'vat' | 'total', string>): string =>
    `the document’s ${net} net + ${vat} VAT is not ${total}`,
  implausible: ({ field, amount }: Record<'field' | 'amount', string>): string =>
    `${field} is ${amount}, which is above 10,000,000`,
  creditsItself: 'it credits itself',
  creditCircle: ({ ids }: { ids: string }): string =>
    `these credit notes credit each other in a circle, or in a chain that is too long: ${ids}`,
  rowVat: ({
    row,
    vat,
    net,
    rate,
    expected,
  }: Record<'vat' | 'net' | 'rate' | 'expected', string> & { row: number }): string =>
    `row ${row} has ${vat} VAT on ${net}, but ${rate} % of that is ${expected}`,
  collector: ({ total, paid }: Record<'total' | 'paid', string>): string =>
    `its total is ${total}, but its members’ consolidation payments add up to ${paid}`,
  overpaid: ({ due, total }: Record<'due' | 'total', string>): string =>
    `its due_sum is ${due} and its total ${total}, so the payments exceed the total`,
  dueSum: ({
    due,
    total,
    payments,
    expected,
  }: Record<'due' | 'total' | 'expected', string> & { payments: number }): string =>
    `its due_sum is ${due}, but its total ${total} less ${payments} ${payments === 1 ? 'payment' : 'payments'} is ${expected}`,
  centsUnsettled: ({ net, vat }: Record<'net' | 'vat', string>): string =>
    `its rows cannot be rounded to the totals ${net} net and ${vat} VAT`,
  rowsStale: ({ modified }: { modified: string }): string => `its rows are older than its change of ${modified}`,
  rowsMissing: ({ total }: { total: string }): string => `it has a total of ${total}, but no rows`,
  rowWithoutAmount: 'a row lacks an amount',
  noOriginal: ({ total }: { total: string }): string => `its total is ${total}, but it names no original`,
  noRefundedPrepayment: ({ paid }: { paid: string }): string =>
    `${paid} was paid back, but the refund names no prepayment`,
  roundingTooLarge: ({ paid, limit }: Record<'paid' | 'limit', string>): string =>
    `it rounds by ${paid}, but policies.rounding_limit is ${limit}`,
  prepaymentUnmatched: ({ party }: { party: string }): string =>
    `we could not determine which prepayments it used; its liability is posted under ${party}`,
  vatDueUnknown: ({ invoice }: { invoice: string }): string =>
    `the VAT of invoice ${invoice} from before start_date is unknown, so none becomes due with this payment`,

  // VAT groups and vouchers
  vatGroup: ({ name, rate }: Record<'name' | 'rate', string>): string => `VAT group ${name} ${rate}`,
  withoutName: 'without a name',
  atRate: ({ rate }: { rate: string }): string => `at ${rate} %`,
  withoutRate: 'without a rate',
  vatGroupExpired: ({ group, valid, day }: Record<'group' | 'valid' | 'day', string>): string =>
    `${group} is valid ${valid}, but the date of the document for VAT is ${day}`,
  noVatNumber: ({ group, kind }: Record<'group' | 'kind', string>): string =>
    `${group} is of kind ${kind}, but the payer has no VAT number`,
  ownVatNumber: ({ group, kind, country }: Record<'group' | 'kind' | 'country', string>): string =>
    `${group} is of kind ${kind}, but the payer’s VAT number belongs to ${country}`,
  voucherWithVat: ({
    count,
    rows,
    account,
    role,
    vat,
    group,
  }: Record<'rows' | 'account' | 'role' | 'vat' | 'group', string> & { count: number }): string =>
    `${count === 1 ? 'row' : 'rows'} ${rows} on account ${account} ${count === 1 ? 'goes' : 'go'} to ${role}, but ${count === 1 ? 'has' : 'have'} ${vat} VAT (${group})`,
  noAccount: 'none',

  // Closed periods
  locked: ({ date, open }: Record<'date' | 'open', string>): string =>
    `${date} is closed; the first open day is ${open}`,
  lockedDays: ({ dates }: { dates: string }): string => `${dates} is closed`,
  openAgain: ({ dates }: { dates: string }): string =>
    `${dates} is open again, but the document was late when the books were closed`,
  open: ({ dates }: { dates: string }): string => `${dates} is open`,
  and: ' and ',
  paidOnVoided: ({ paid, payments }: Record<'paid' | 'payments', string>): string =>
    `${paid} is paid on it (payments ${payments}), and it has no entry`,
  decidedToWait: '; it was decided to wait',
  decidedAsDated: '; it was decided to post it with its own date once that day is open',
  heldNew: ({ description, why, decided }: Record<'description' | 'why' | 'decided', string>): string =>
    `${description}: ${why}${decided}`,
  heldChange: ({
    description,
    change,
    fields,
    why,
    entryId,
    effect,
    open,
    decided,
  }: Record<'description' | 'change' | 'fields' | 'why' | 'entryId' | 'effect' | 'open' | 'decided', string>): string =>
    `${description}: ${change}${fields && ` (${fields})`}, but ${why}; ${entryId} stays in force. The correction would change ${effect || 'no account'}${open && `. The first open day is ${open}`}${decided}`,
  declined: ({
    description,
    change,
    fields,
    entryId,
    effect,
  }: Record<'description' | 'change' | 'fields' | 'entryId' | 'effect', string>): string =>
    `${description}: ${change}${fields && ` (${fields})`}; as decided, ${entryId} stays in force. The correction would change ${effect || 'no account'}`,
  moreFields: ({ more }: { more: number }): string => `${more} more`,
});
