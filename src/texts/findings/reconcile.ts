import { catalogue } from '../catalogue.ts';

/** Messages of the differences and lists of `vetledger reconcile`, by equation (ACCOUNTING "Equations"). */
export const reconcileTexts = catalogue('findings/reconcile.reconcileTexts', {
  invoice: ({ id }: { id: number }) => `invoice ${id}`,
  more: ({ named, count }: { named: string; count: number }) => `${named} and ${count} more`,
  moreAlone: ({ count }: { count: number }) => `${count} more`,
  noClient: 'no client',
  client: ({ id }: { id: number | string }) => `client ${id}`,
  waitsForJudgement: '; it waits to be judged again by the next sync',
  inNoConsolidation: ({ id }: { id: number }) => `invoice ${id} (in no consolidated invoice)`,
});

const none = 'none';

export const e1Texts = catalogue('findings/reconcile.e1Texts', {
  summary: ({ id }: { id: string }) => `summary ${id}`,
  entry: ({ id }: { id: string }) => `entry ${id}`,
  vatBase: 'VAT base',
  summaryDiffers: (of: { what: string; account: string; role: string; difference: string }) =>
    `its ${of.what} on ${of.account} (${of.role}) is ${of.difference} higher than the sum of its entries`,
  misplaced: ({ summary }: { summary: string }) =>
    `it does not belong to the day or the VAT period of ${summary}, or is delivered to the general ledger separately`,
  overdue: ({ date }: { date: string }) => `it is in no daily summary, although ${date} is over`,
});

export const e2Texts = catalogue('findings/reconcile.e2Texts', {
  paymentWithoutInvoice: (of: { amount: string; invoice: string; state: string }) =>
    `${of.amount} is posted on ${of.invoice}, which is ${of.state}`,
  notJudged: 'not judged',
  withoutEntry: (of: { role: string; ledger: string; expected: string; state: string }) =>
    `${of.role} is ${of.ledger} in the ledger, but must be ${of.expected} by its posted payments (it is ${of.state})`,
  openingWithEntry: ({ ledger }: { ledger: string }) =>
    `opening_receivable is ${ledger} in the ledger, although the invoice itself is posted`,
  receivable: ({ ledger, expected, from }: { ledger: string; expected: string; from: string }) =>
    `receivable is ${ledger} in the ledger, but must be ${expected} by ${from}`,
  postedTotal: 'its posted total and payments',
  totalAndPayments: 'its total and payments',
  dueSum: ({ amount }: { amount: string }) => `its due_sum of ${amount}`,
  withNotPosted: ({ from, amount }: { from: string; amount: string }) => `${from} and ${amount} of payments not posted`,
  unreadablePayment: ({ invoice }: { invoice: string }) =>
    `has no readable amount, so the amount due on ${invoice} cannot be checked`,
  wrongParty: ({ amount, other, party }: { amount: string; other: string | null; party: string | null }) =>
    `${amount} of its receivable is posted under ${other ?? 'no party'} instead of ${party ?? 'no party'}`,
  wrongInvoice: (of: { amount: string; role: string; other: number | null; invoice: number }) =>
    `${of.amount} of its ${of.role} is posted for invoice ${of.other ?? none} instead of ${of.invoice}`,
  invoiceNotMirrored: ({ amount, role }: { amount: string; role: string }) =>
    `${amount} of ${role} is posted, but its invoice is not in the mirror`,
});

export const e3Texts = catalogue('findings/reconcile.e3Texts', {
  client: ({ client, ledger, expected }: { client: string; ledger: string; expected: string }) =>
    `prepayment_liability of ${client} is ${ledger} in the ledger, but must be ${expected} by the unused amounts in the source`,
});

export const e4Texts = catalogue('findings/reconcile.e4Texts', {
  differs: ({ ledger, source }: { ledger: string; source: string }) =>
    `the ledger has ${ledger}; by the source it must have ${source}`,
  nothing: 'nothing',
  nothingExpected: ({ state }: { state: string }) => `nothing (it is ${state})`,
  gone: 'gone',
  line: (of: { amount: string; type: number | null; department: number | null; date: string | null }) =>
    `${of.amount} of type ${of.type ?? none} in department ${of.department ?? none} on ${of.date ?? 'no date'}`,
});

export const e5Texts = catalogue('findings/reconcile.e5Texts', {
  collectorHasRevenue: 'it consolidates other invoices, but has revenue or VAT lines',
  lineDiffers: ({ name, ledger, rows }: { name: string; ledger: string; rows: string }) =>
    `${name} is ${ledger}, its rows sum to ${rows}`,
  netLines: 'net lines',
  vatLines: 'VAT lines',
  totalDiffers: ({ name, ledger, expected }: { name: string; ledger: string; expected: string }) =>
    `its ${name} add up to ${ledger}, but must be ${expected} by its totals`,
  lineOn: ({ account }: { account: string }) => `the line on ${account}`,
  postedOfRows: ({ rows }: { rows: string }) => `the posted amount of row ${rows}`,
  vatOfGroup: ({ group }: { group: string }) => `VAT of group ${group}`,
  vatGroup: ({ name, rate }: { name: string | null; rate: string | null }) =>
    `${name ?? 'without a name'} at ${rate ?? 'no'} %`,
  earlierEntries: ({ amount, place }: { amount: string; place: string }) =>
    `earlier entries leave ${amount} on account ${place} beside the entry in force`,
  place: ({ account, date }: { account: string; date: string }) => `${account} on ${date}`,
});

export const e6Texts = catalogue('findings/reconcile.e6Texts', {
  count: (of: { source: number; list: string; mirror: number; missing: number }) =>
    `the source counts ${of.source} ${of.list}, the mirror holds ${of.mirror}${of.missing === 0 ? '' : `, ${of.missing} of them posted and no longer shown by the source`}`,
});

export const e7Texts = catalogue('findings/reconcile.e7Texts', {
  missing: ({ unit, number, key }: { unit: string; number: string | null; key: string }) =>
    `${unit} was delivered${number === null ? '' : ` as ${number}`}, and is no longer in the ERP (its key: ${key})`,
  at: ({ where, text }: { where: string; text: string }) => `${where}: ${text}`,
  inState: ({ unit, state }: { unit: string; state: string }) => `${unit} is ${state}`,
  withProblem: ({ unit, code, message }: { unit: string; code: string; message: string }) =>
    `${unit} (${code}): ${message}`,
  foreign: ({ unit, key }: { unit: string; key: string }) =>
    `${unit} was posted by another database of vetledger (its key: ${key})`,
  doubled: ({ unit, key }: { unit: string; key: string }) =>
    `${unit} was posted by another database of vetledger (its key: ${key}) and adopted, and ours is also there: reverse one of them in the ERP, or ours with \`vetledger deliver undo\``,
  behind: ({ unit, key }: { unit: string; key: string }) =>
    `${unit} was posted by this database, which does not know it: it was restored from a backup (its key: ${key})`,
  balance: ({ erp, own }: { erp: string; own: string }) =>
    `the ERP’s balance is ${erp}, the delivered balance is ${own}`,
  account: ({ account }: { account: string }) => `account ${account}`,
  erpEntry: ({ number }: { number: string | null }) => `ERP entry ${number ?? 'without number'}`,
  entryOf: ({ number, date }: { number: string | null; date: string | null }) =>
    `entry ${number ?? 'without number'} of ${date ?? 'no date'}`,
  surplus: ({ unit, copies }: { unit: string; copies: number }) => `the ERP holds ${unit} ${copies} times`,
  unexpected: ({ unit, state }: { unit: string; state: string }) => `${unit} ${state}, but the ERP holds it`,
  states: {
    pending: 'was not sent',
    refused: 'was refused',
    cancelled_out: 'was settled without being sent',
    excluded: 'must not be delivered',
  },
});

export const e8Texts = catalogue('findings/reconcile.e8Texts', {
  original: (of: { left: string; expected: string; unused: string; amount: string; uses: string }) =>
    `${of.left} of its VAT is left, but ${of.expected} belongs to the unused amount of ${of.unused}: the difference is ${of.amount} of VAT; ${of.uses}`,
  unknownUse: ({ amount, client }: { amount: string; client: string }) =>
    `vetledger could not determine which prepayment the ${amount} came from; no prepayment of ${client} has a VAT difference`,
  withoutVat: ({ amount }: { amount: string }) =>
    `${amount} of it was used or refunded; it was received without VAT, so it gives no VAT back`,
  noUnmatched: ({ client }: { client: string }) => `${client} has no use without a match`,
  unmatched: ({ client, uses }: { client: string; uses: string }) => `${client} has uses without a match: ${uses}`,
  use: ({ id, amount }: { id: number; amount: string }) => `payment ${id} (${amount})`,
  total: ({ ledger, expected, invoices }: { ledger: string; expected: string; invoices: string }) =>
    `VAT is ${ledger} in the ledger, but must be ${expected} by invoices (${invoices}) and unused prepayments`,
});

export const e11Texts = catalogue('findings/reconcile.e11Texts', {
  invoice: ({ amount, documents }: { amount: string; documents: string }) =>
    `the VAT that is due by its payments differs by ${amount} from the VAT that these documents moved: ${documents}`,
  total: ({ ledger, expected, invoices }: { ledger: string; expected: string; invoices: string }) =>
    `VAT and VAT not due are ${ledger} in the ledger, but must be ${expected} by invoices (${invoices}) and unused prepayments`,
});

export const e9Texts = catalogue('findings/reconcile.e9Texts', {
  total: ({ ledger, expected }: { ledger: string; expected: string }) =>
    `it is ${ledger} in the ledger, but must be ${expected} by the amounts sold and redeemed`,
  document: ({ ledger, role, expected }: { ledger: string; role: string; expected: string }) =>
    `${ledger} is posted on ${role}, but must be ${expected} by the document`,
});

export const e10Texts = catalogue('findings/reconcile.e10Texts', {
  unproven: ({ value }: { value: string }) => `${value} was written back, and no later read shows the record`,
  lost: ({ value }: { value: string }) => `${value} was written back, but the field is empty`,
  entryIdInstead: ({ number, entry }: { number: string; entry: string }) =>
    `the number ${number} was written back, but the field holds the entry id ${entry}`,
  anotherEntryId: ({ value, expected }: { value: string; expected: string | null }) =>
    `the field holds ${value}, the entry id of another document of ours${instead(expected)}`,
  anotherNumber: ({ value, expected }: { value: string; expected: string | null }) =>
    `the field holds ${value}, the number of another document of ours${instead(expected)}`,
  foreign: ({ value, expected }: { value: string; expected: string | null }) =>
    `the field holds ${value}, which is not ours${instead(expected)}; it stays`,
});

function instead(expected: string | null): string {
  return expected === null ? '' : `, instead of ${expected}, which was written back`;
}

/** Posted documents with a held change: what is posted, and what the source shows now. */
export const heldTexts = catalogue('findings/reconcile.heldTexts', {
  void: 'that it is void',
  notFinal: ({ status }: { status: number | string | null }) =>
    `that it is not final any more (status ${status ?? 'unreadable'})`,
  noMoney: ({ status }: { status: string }) => `that it is ${status}, which is not money`,
  type: ({ type, posted }: { type: number | null; posted: number | null }) =>
    `type ${type ?? 'unreadable'} instead of ${posted ?? none}`,
  posted: ({ amount }: { amount: string }) => `posted with ${amount}`,
  gone: ({ posted, problem }: { posted: string; problem: string }) =>
    `${posted}; it is gone from the source (${problem})`,
  notShown: ({ posted, problem }: { posted: string; problem: string }) =>
    `${posted}; the source no longer shows it, or rows of it (${problem})`,
  says: ({ posted, now, problem }: { posted: string; now: string; problem: string }) =>
    `${posted}; the source now says ${now} (${problem})`,
  unreadable: ({ posted, problem }: { posted: string; problem: string }) =>
    `${posted}; its amount in the source is no longer readable (${problem})`,
  sameAmount: ({ posted, facts, problem }: { posted: string; facts: string; problem: string }) =>
    `${posted}, as in the source; ${facts} (${problem})`,
  otherFacts: 'other facts differ',
  change: ({ field, from, to }: { field: string; from: string | null; to: string | null }) =>
    `${field} ${from ?? none} → ${to ?? none}`,
});

/** Parts of the reconciliation, for an error about a time-out. */
export const reconcileParts = catalogue('findings/reconcile.reconcileParts', {
  trialBalance: 'E1 (trial balance)',
  summaries: 'E1 (daily summaries)',
  invoices: 'E2, E4 and E5 (invoices and their payments)',
  payments: 'E2 and E4 (payments without invoice)',
  prepayments: 'E3 (prepayments)',
  completeness: 'E6 (nothing lost)',
  prepaymentVat: 'E8 (VAT on prepayments)',
  vatDue: 'E11 (VAT on payment)',
  vouchers: 'E9 (gift cards and vouchers)',
  writeBacks: 'E10 (write-backs)',
  reports: 'the list of reported problems',
  balances: 'the trial balance',
  outside: 'the list of documents outside the books',
  states: 'the list of states',
  liabilities: 'the list of liabilities in debit',
});
