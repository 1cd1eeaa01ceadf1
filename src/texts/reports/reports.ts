import { catalogue } from '../catalogue.ts';

/** The content of each report (`vetledger report --help`). */
export const reportDescriptions = catalogue('reports/reports.reportDescriptions', {
  vat: 'The VAT of a month’s entries, by original VAT period. Late items are listed separately: they were posted, or sent to the ERP, after their period was first closed. Entries that were settled without being sent to the ERP (`cancelled_out`) belong to no return, and follow at the end. Each figure is compared with the current rows of the same invoices in the practice software. Differences are settled cents and held changes. VAT of prepayments, corrections of another month’s entries, and entries that late ones have changed are not compared.',
  euSales:
    'The bases of VAT groups of kind eu_goods and eu_services per VAT number and country, for the EU sales list.',
  receivables:
    'The open items of each customer at the end of a day, by days after the due date. Old receivables from before `start_date` (role opening_receivable) show only later postings.',
  prepayments:
    'The prepayments of clients at the end of a day, including those from before `start_date`. For each prepayment, it shows the amounts received, used, refunded and unused, and its age. These come from the records of the practice software and the known uses. A payment from a prepayment (type 8) that could not be matched has a separate line under its client. The column “in the books” adds up to prepayment_liability. Unused amounts that are not in the books are held, not yet posted, or from before `start_date`. With VAT at receipt, “VAT left” adds up to prepayment_vat.',
  vouchers:
    'The liability for gift cards and multi-purpose vouchers at the end of a day, by account and month. With a `start_date`, also the amount open at that date, by the records of the practice software.',
  clearing:
    'The balance of each account before and after the month, and the payments and prepayments on it, received and paid back. A payout, a bank statement or a cash count must match them. Entries that accountants made in the ERP are not in these books.',
  trialBalance:
    'Every account with its balance before the period, debits, credits and balance after it. Income and expenses begin at zero in each fiscal year; the result of earlier years is a line at the end.',
  income: 'Income and expenses of the period, and of the fiscal year up to its end.',
  balanceSheet:
    'Assets and liabilities before and after the period. The result of earlier fiscal years and that of the fiscal year are lines at the end, so the balances add up to zero.',
  account: 'Every line on an account in the order of dates, with its document, voucher number and running balance.',
  journal: 'Every line of every entry in the order of dates, with account, document and voucher number.',
  cutover:
    'The amounts that were open in the practice software at `start_date`. Later payments are posted against opening_receivable, prepayment_liability, gift_card_liability and voucher_liability. So the opening balances of the ERP must hold these amounts. For gift cards and vouchers, only sales and redemptions in the practice software are known.',
});

/** Notes in the text of reports. */
export const reportNotes = catalogue('reports/reports.reportNotes', {
  noStartDate: 'No installation has a start_date, so there are no opening balances.',
  monthSpan: ({ from, through }: { from: string | null; through: string }) => `from ${from} to ${through}`,
  upTo: ({ through }: { through: string }) => `up to ${through}`,
  endOf: ({ through }: { through: string }) => `at the end of ${through}`,
  missing: ({ installation, documents, dated }: Record<'installation' | 'documents' | 'dated', string>) =>
    `Missing in these figures, because not in the books of ${installation}: ${documents}, dated ${dated} or without a date yet`,
  changeHeld: ({ installation, documents, dated }: Record<'installation' | 'documents' | 'dated', string>) =>
    `Posted, but changed or missing in the practice software: ${documents}, dated ${dated}, in ${installation}. The figures have them as posted; the amounts are the differences`,
  zeroLines: ({ lines }: { lines: string }) => `${lines} of 0.00 not shown; \`--documents\` shows them`,
});

/** Headings of the sections of reports. */
export const sectionTitles = catalogue('reports/reports.sectionTitles', {
  payments: 'Payments by account, type, department and day',
  accounts:
    'Accounts: balance before the month, movements by payments and by other entries, and balance at its end as in the trial balance',
  openInvoices: 'Open invoices at the start date: the opening balance of opening_receivable',
  unusedPrepayments: 'Unused prepayments at the start date: the opening balance of prepayment_liability',
  openingUnknown: ({ title, roles }: { title: string; roles: string }) =>
    `${title}. Without ${roles}: more was redeemed than sold, so the records do not go back far enough. Take the opening balance from the clinic’s list of open cards`,
  openingVouchers:
    'Gift cards and vouchers open at the start date, as far as the source’s records show: the opening balance',
  openingVatNotDue: 'VAT not due at the start date: the opening balance of opening_vat_not_due',
  euSales: 'Sales to companies of the EU, by buyer',
  euLate: 'Late: posted after their VAT period was first closed',
  euSettled: 'In no return: settled against each other without being sent to the ERP',
  prepaymentsPerClient: 'Prepayments per client, oldest first; `unmatched`: the used prepayment is unknown',
  prepaymentTotals: 'Prepayments in total per client',
  openItems: 'Open items per customer, by days after their due date',
  vat: 'VAT by group',
  vatLate:
    'Late: posted, or due in the ERP, after their VAT period was first closed; the accountant chooses the return for them',
  bookedVatLate: 'VAT of late entries: recorded after their VAT period was first closed',
  bookedPrepayments: 'Prepayments of clients with a balance, by the entries',
  lateEntries: 'Entries that have another date than their document, or that are late for its VAT period',
  decisions: 'Decisions of people from the first day of the month until the close',
  checklist: 'Checklist of the close',
  openDocuments: 'Documents that were not in the books at the close',
  closes: 'Closes and reopenings of the books',
  vatSettled:
    'In no return: settled against each other without being sent to the ERP; listed so that the VAT accounts agree',
  vatFiled: 'Filed: what the return declares, by version',
  vatToFile: 'To be filed: what this return declares',
  vatSince: 'Changed since: on-time lines of the period and late lines of the return, now less filed',
  vatLateOpen: 'Late lines that no filed return has taken',
  vatTakenElsewhere: 'Late lines of these days that another return has taken',
  vatAccounts: 'The VAT accounts in these days',
  vatForm: ({ form, of }: { form: string; of: 'base' | 'tax' }) =>
    `Boxes of ${form}: ${of === 'base' ? 'bases' : 'tax'}`,
  vouchers: 'Gift cards and vouchers sold and redeemed, by account and month',
  trialBalance: 'Trial balance; debits are positive',
  income: 'Income and expenses; income is positive',
  balanceSheet: 'Assets and liabilities; debits are positive',
  account: 'Lines of the account; debits are positive',
  journal: 'Lines of the journal',
});

/** The parts of the VAT accounts in a period (`vat-return.ts`). */
export const vatParts = catalogue('reports/reports.vatParts', {
  filed: 'filed',
  since: 'changed since',
  late: 'late lines of these days, not taken',
  taken_elsewhere: 'late lines of these days, taken by another return',
  cancelled_out: 'cancelled out',
  of_other_periods: 'lines of another VAT period, dated in these days',
  other_days: 'less filed lines that are dated on other days',
});

export const reportTexts = catalogue('reports/reports.reportTexts', {
  prepaymentVatLeft: ({ from }: { from: string }) =>
    `VAT left is the VAT of the unused amounts in the books. \`policies.prepayment_vat\` posts it for prepayments received from ${from} on; earlier ones have none. Refunds and uses give back their parts, which add up to the VAT at receipt to the cent.`,
  prepaymentVatLines:
    'Lines of prepayments are the VAT at receipt, less the parts that refunds and uses give back. The invoice on which a prepayment is used has its whole VAT among the invoices, so nothing is declared twice. The source has no figure for these lines.',
  noBox: ({ kind, rate }: { kind: string | null; rate: string | null }) =>
    `in no box of the form: ${kind ?? 'no kind'}, ${rate === null ? 'no rate' : `${rate} %`}`,
  everyEntry: 'every entry',
  balanceBefore: 'balance before',
  rounding: 'rounding',
  earlierResult: 'result of earlier fiscal years',
  yearResult: 'result of the fiscal year',
  /** The heading of reports of accounts. */
  salesBooks: ({ startDate }: { startDate: string | null }) =>
    startDate === null
      ? 'Sales books of all records in the practice software, not the company’s accounts'
      : `Sales books since ${startDate}, not the company’s accounts`,
  recordedBy: ({ time }: { time: string }) => `Entries recorded by ${time}`,
  cancelledPayments: ({ invoice }: { invoice: number }) => `cancelled payments of invoice ${invoice}`,
});

/** Texts of `vetledger report vat` beside the figures. */
export const vatReportTexts = catalogue('reports/reports.vatReportTexts', {
  prepaymentVatDiffers: ({ installation }: { installation: string }) =>
    `VAT on prepayments of ${installation} differs from the VAT of the unused amounts (E8) and may be declared twice. \`vetledger problems match\` proposes matches:`,
  unusedPrepayments: (of: {
    count: number;
    amount: string;
    currency: string;
    through: string;
    postedFrom: string | null;
  }) =>
    `Not in these figures: the VAT of ${of.count === 1 ? '1 unused prepayment' : `${of.count} unused prepayments`}, ${of.amount} ${of.currency} at the end of ${of.through} (\`vetledger report prepayments --as-of ${of.through}\`). ${
      of.postedFrom === null
        ? 'In Finland, Germany and Sweden it is due when the money is received; `policies.prepayment_vat` of the mapping posts it.'
        : `\`policies.prepayment_vat\` of the mapping posts VAT on prepayments received from ${of.postedFrom} on. Check that the VAT of the earlier ones was declared when they were received.`
    }`,
  ofClaims: (of: { amount: string; currency: string }) =>
    `Of this VAT, ${of.amount} ${of.currency} is due with payments of type 10 or 15 (financing companies, insurance), before the money comes.`,
  filed: (of: { period: string; version: number; at: string; by: string; reason: string }) =>
    `VAT return ${of.period}, version ${of.version}: filed at ${of.at} by ${of.by} (${of.reason})`,
  toFile: (of: { period: string; version: number }) => `VAT return ${of.period}, version ${of.version}: not filed yet`,
  shown: ({ hash }: { hash: string }) => `Hash of the figures to be filed: ${hash}`,
  changedSince: ({ period }: { period: string }) =>
    `The return of ${period} has changed since it was filed. A correction return files the change: \`--correction --mark-filed\`.`,
  question: (of: { period: string; version: number; installation: number }) =>
    `File version ${of.version} of the VAT return ${of.period} of installation ${of.installation}? It never changes afterwards.`,
  notFiled: 'Nothing is filed.',
});
