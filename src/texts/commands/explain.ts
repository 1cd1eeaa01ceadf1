import { catalogue } from '../catalogue.ts';

/** Lines of `vetledger explain`. */
export const explainTexts = catalogue('commands/explain.explainTexts', {
  title: ({ kind, id, installation, state }: { kind: string; id: number; installation: number; state: string }) =>
    `${kind} ${id} of installation ${installation}: ${state}`,
  times: ({ timezone }: { timezone: string }) => `local time of ${timezone}`,
  problemSince: ({ code, at }: { code: string; at: string }) => `${code} since ${at}`,
  decided: ({ decision, by, at, reason }: Record<'decision' | 'by' | 'at' | 'reason', string>) =>
    `${decision}, by ${by}, ${at}: ${reason}`,
  prepayments: 'Prepayments used and refunded',

  version: ({ version, changed, read }: { version: number; changed: string; read: string }) =>
    `version ${version}  changed ${changed}, last read ${read}`,
  gone: ({ at }: { at: string }) => `(gone, found ${at})`,
  origin: ({ consultation, url }: { consultation: number; url: string | null }) =>
    `made from consultation ${consultation}${url === null ? '' : `: ${url}`} (its record in the practice software names the patients)`,
  cancels: ({ payment }: { payment: number }) =>
    `likely cancels or pays back payment ${payment} (same invoice, type and amount)`,
  cancelledBy: ({ payment }: { payment: number }) => `likely cancelled or paid back by payment ${payment}`,
  payment: ({ paid, type, at, invoice }: Record<'paid' | 'type' | 'at' | 'invoice', string>) =>
    `${paid} by ${type} on ${at} for ${invoice}`,
  invoiceUnread: ({ payment }: { payment: string }) => `${payment} (not in the mirror)`,
  noInvoice: 'no invoice',
  noPaymentType: 'no payment type',
  prepayment: (of: Record<'paid' | 'type' | 'status' | 'at' | 'unused' | 'client', string>) =>
    `${of.paid} by ${of.type}, ${of.status}, created ${of.at}, unused ${of.unused}, client ${of.client}`,
  refunds: ({ prepayment }: { prepayment: number }) => `refunds prepayment ${prepayment}`,
  invoice: (of: Record<'number' | 'status' | 'at' | 'client' | 'department', string>) =>
    `number ${of.number}, status ${of.status}, dated ${of.at}, client ${of.client}, department ${of.department}`,
  sums: ({ total, vat, gross, due }: Record<'total' | 'vat' | 'gross' | 'due', string>) =>
    `total ${total} + VAT ${vat} = ${gross}, due ${due}`,
  paidBy: ({ payment, paid, type, at }: { payment: number } & Record<'paid' | 'type' | 'at', string>) =>
    `payment ${payment}: ${paid} by ${type} on ${at}`,

  setBy: ({ by, at, reason }: Record<'by' | 'at' | 'reason', string>) => `set by ${by}, ${at}: ${reason}`,
  paymentOn: ({ payment, invoice }: { payment: number; invoice: number | null }) =>
    `payment ${payment}${invoice === null ? '' : ` on invoice ${invoice}`}`,
  prepaymentUnknown: 'the prepayment is unknown',

  notInMirror: 'none: the record is not in the mirror',
  noProofs: ({ state }: { state: string }) => `none required: the rules make it ${state}`,
  notKnown: 'not known',

  lines: 'Lines',
  entries: 'Entries',
  noVoucher: 'no voucher number yet',
  voucher: ({ voucher }: { voucher: string }) => `voucher ${voucher}`,
  recorded: ({ at, window }: { at: string; window: number | null }) =>
    `recorded ${at}${window === null ? ' outside a window' : ` by window ${window}`}`,
  mapping: ({ mapping, by }: { mapping: string; by: string | null }) =>
    `mapping ${mapping}${by === null ? '' : `, approved by ${by}`}`,
  documentDate: ({ date }: { date: string }) => `document date ${date}`,
  vatPeriod: ({ period, isLate }: { period: string; isLate: boolean }) =>
    `VAT period ${period}${isLate ? ', late' : ''}`,
  link: ({ seq, hash }: { seq: number; hash: string }) => `no. ${seq} of the journal, hash ${hash}`,
  inSummary: ({ summary, voucher }: { summary: string; voucher: string }) =>
    `to the general ledger in ${summary}, voucher ${voucher}`,
  summaryToCome: ({ date }: { date: string }) => `to the general ledger with the summary of ${date}, not made yet`,

  nothingToWrite: 'nothing to write back yet',
  written: ({ value, state, at }: { value: string | null; state: string; at: string | null }) =>
    `external_id ${value ?? 'as before'}: ${state}${at === null ? '' : ` ${at}`}`,
  confirmed: 'confirmed by a later read',
  unconfirmed: 'unconfirmed: no later read shows it',
  replaced: ({ value }: { value: string }) => `it replaced ${value}`,
});

/** Whether a decision about a late document is in force. */
export const standingTexts = catalogue('commands/explain.standingTexts', {
  holds: '',
  replaced: ' (replaced by a newer decision)',
  earlier_version: ' (about an earlier version of the document)',
  late_no_more: ' (the document is no longer late)',
});

/** The state of a use of a prepayment. */
export const useTexts = catalogue('commands/explain.useTexts', {
  open: 'not matched',
  matched: 'matched, because the unused amount of the prepayment decreased by this amount',
  set: 'set with `vetledger problems match`',
  cancelled: 'cancelled before it was matched',
});

/** Titles of the first delivery, and then in turn of each undo and each new delivery. */
export const deliveryTitles = catalogue('commands/explain.deliveryTitles', {
  sent: 'to the ERP',
  undone: 'undone in the ERP',
  again: 'sent to the ERP again',
});

type Names = 'invoice' | 'group' | 'rate' | 'before' | 'moved' | 'base';

/** The reason why VAT of an invoice becomes due, with the numbers. A paid amount counts at most up to the total. */
export const explainDueTexts = catalogue('commands/explain.explainDueTexts', {
  all: (of: Record<Names | 'vat', string>): string =>
    `invoice ${of.invoice}, ${of.group} ${of.rate} %: all of ${of.vat} is due, since its latest day is over; less ${of.before} that was due before: ${of.moved} (base ${of.base})`,
  paid: (of: Record<Names | 'vat' | 'total' | 'paid' | 'due', string>): string =>
    `invoice ${of.invoice}, ${of.group} ${of.rate} %: ${of.vat} × ${of.paid} paid / ${of.total} = ${of.due}, less ${of.before} that was due before: ${of.moved} (base ${of.base})`,
});
