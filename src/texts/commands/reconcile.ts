import { catalogue } from '../catalogue.ts';

/** Notes of `vetledger reconcile` on stderr. */
export const reconcileNotes = catalogue('commands/reconcile.reconcileNotes', {
  listsTwice: ({ list }: { list: string }) =>
    `the source lists some ${list}s twice, so their count cannot be compared; E6 does not use it.`,
  newRecords: ({ list }: { list: string }) =>
    `the source’s ${list}s could not be counted, because new ones kept arriving; E6 does not use their count.`,
  sourceUnreachable: ({ message, counts }: { message: string; counts: string }) =>
    `the source cannot be reached (${message}); ${counts}`,
  countsTooOld: 'E6 does not use its counts, because all known counts are older than the mirror.',
  countsOf: ({ at }: { at: string }) => `E6 uses its counts of ${at}.`,
  clockPutBack: ({ at }: { at: string }) =>
    `the source’s clock was put back before the window of ${at}. That window read again what had changed since both clocks last agreed. If the clock was put back more than once, vetledger may not have read some changes of known records. E6 cannot show such changes, because it only counts. \`vetledger backfill\` reads everything.`,
  waitingForWindow: 'waiting for the end of the running window',
  windowRunning: 'a window is still running; documents that it has not posted yet are reported as pending',
  waitingForReader: 'waiting for another `vetledger reconcile --erp` that reads the same books',
  notRefreshed: ({ documents }: { documents: number }) =>
    `${documents} disputed documents were not read again, because a window is using the mirror. Run \`vetledger reconcile\` again after the window.`,
  notFetched: ({ message }: { message: string }) => `the disputed documents could not be read again (${message})`,
});

/** Statements of the equations E1 to E11. */
export const equationTitles = catalogue('commands/reconcile.equationTitles', {
  E1: 'the trial balance is zero',
  E2: 'receivables in the books equal the amounts due in the source',
  E3: 'prepayments in the books equal the unused prepayments in the source',
  E4: 'payments in the books equal the payments in the source',
  E5: 'revenue and VAT in the books equal the invoice rows in the source',
  E6: 'every record that the source counts is in the mirror, in one state',
  E7: 'the ERP’s entries from vetledger are the delivered ones',
  E8: 'VAT on prepayments in the books equals the VAT of unused prepayments',
  E9: 'gift cards and vouchers in the books equal the sold less the redeemed ones',
  E11: 'VAT that is not due in the books equals the VAT of invoices less their paid part',
  E10: 'prepayments in the source have the entry ids that vetledger wrote back',
});

/** Sections and lines of the report of `vetledger reconcile`. */
export const reconcileTexts = catalogue('commands/reconcile.reconcileTexts', {
  clearedElsewhere: ({ accounts }: { accounts: string }) =>
    `${accounts} show money and claims as the practice recorded them. Payouts and bank statements clear these accounts in the ERP, and are not in these sales books.`,
  clearedHere: ({ accounts, isZero }: { accounts: string; isZero: boolean }) =>
    isZero
      ? `${accounts}: cleared by documents, and nothing is open.`
      : `${accounts}: cleared by documents; the lists below have what is open.`,
  readAgain: ({ documents, changed }: { documents: number; changed: number }) =>
    `  ${documents} documents read again; ${changed} records had changed`,
  notReadAgain: ({ left }: { left: number }) => `  ${left} documents NOT read again: run \`vetledger reconcile\` again`,
  paymentsWithoutInvoice: 'Posted payments on invoices without an entry in force',
  heldChanges: 'Held changes and unreadable amounts',
  client: ({ client, books, source, unproven }: Record<'client' | 'books' | 'source' | 'unproven', string>) =>
    `${client}: books ${books}, source ${source}; unproven: ${unproven}`,
  unusedPrepayments: "Unused prepayments at each month's end",
  prepaymentVat: 'VAT on prepayments',
  vatDue: 'VAT on payment that is not moved yet',
  vouchers: 'Gift cards and vouchers',
  voucher: (of: Record<'role' | 'sold' | 'redeemed' | 'unused', string> & { opening: string | null }) =>
    `${of.role}: sold ${of.sold}, redeemed ${of.redeemed}, unused ${of.unused}${of.opening === null ? '' : `; unused from before start_date ${of.opening}`}`,
  unconfirmed: 'Written back, but not read again yet',
  inDebit: 'Liabilities with a debit balance',
  reports: 'Reports',
  undelivered: 'Not in the ERP yet',
  refused: 'Refused by the ERP',
  cancelledOut: 'Cancelled by its reversal; neither was sent',
  withinTolerance: 'Different in the ERP, within the tolerance of its VAT amounts',
  disputed: 'Documents that differ between books and mirror',
  outside: 'Not in the books (`vetledger problems` lists the documents; amounts of different kinds are not added up)',
  declined: 'Changes of posted documents that stay out of the books, as decided (`vetledger late`)',
  notInErp: 'In the books, but not in the ERP: entries and daily summaries',
  countUnknown: ({ lists }: { lists: string }) =>
    `every record is in one state; the source’s number of ${lists} is unknown`,
  clearing: 'Consolidation clearing accounts with a balance',
  credit: 'Documents whose credit settlement does not add up to zero',
  unproven:
    'Clients with prepayment differences that vetledger cannot explain, because it could not match some payments to prepayments. The total agrees.',
  centsSettled: 'Accounts with settled cents (--json lists each day)',
  daysWithoutSummary: 'Days whose summary is not made yet',
  otherValues: 'Prepayments whose entry id another program replaced',
});

/** The verdict on the books. */
export const verdictTexts = catalogue('commands/reconcile.verdictTexts', {
  empty: 'NOTHING IS POSTED: there is nothing to reconcile',
  emptyIncomplete: 'NOTHING IS POSTED: there is nothing to reconcile, NOT complete',
  titles: {
    right: 'reconciled, complete',
    incomplete: 'reconciled, NOT complete',
    wrong: 'NOT reconciled, complete',
    wrongIncomplete: 'NOT reconciled, NOT complete',
  },
  nothingWaits: 'no document waits to be posted',
  declined: ({ changes }: { changes: string }) => `changes of ${changes} left as posted`,
  notInBooks: ({ documents }: { documents: string }) => `NO: ${documents} not in the books`,
  notChecked: 'not checked yet; run `vetledger reconcile`',
  checkedBefore: ({ at }: { at: string }) => `last checked ${at}, before this window; run \`vetledger reconcile\``,
  amountsUnknown: ({ amounts }: { amounts: string }) => `${amounts} unknown`,
  amountUnknown: 'unknown amount',
});

/** The reason why a document is not in the books as the source has it. */
export const outsideReasons = catalogue('commands/reconcile.outsideReasons', {
  left_as_posted: 'left as posted, as decided',
  missing_in_source: 'not shown by the source',
  change_held: 'changed after posting',
  waiting: 'waiting, as decided',
  late: 'late, to be decided',
  held: 'held',
  pending: 'not judged yet',
  put_aside: 'put aside, as it has no id',
});
