import { catalogue } from './catalogue.ts';

/**
 * A kind of problem of a document. A problem with `holds` keeps the document out of the books until the cause is removed; other
 * problems are reported, and the document is posted. docs/reference/PROBLEMS.md is generated from this catalogue.
 */
export interface ProblemDefinition {
  holds: boolean;
  sentence: string;
  todo: string;
}

export const problemCatalogue = catalogue('problems.problemCatalogue', {
  // The record
  amount_missing: {
    holds: true,
    sentence: 'The record lacks an amount that posting requires.',
    todo: 'Open the document in the practice software and enter the amount. It is posted automatically in the next window.',
  },
  amount_invalid: {
    holds: true,
    sentence: 'An amount in the record is not a number.',
    todo: 'Report the record to the vendor of the practice software. The document is posted automatically once the amount is a number.',
  },
  amount_precision: {
    holds: true,
    sentence: "A total has more decimals than the installation's currency.",
    todo: 'Check `currency` of the installation in the config. If it is right, report the record to the vendor of the practice software.',
  },
  field_invalid: {
    holds: true,
    sentence: 'A field that posting requires cannot be read.',
    todo: 'Report the record to the vendor of the practice software, or correct the field names in mappings/practice-api.yaml.',
  },
  record_too_large: {
    holds: true,
    sentence: 'The record, or a part of the document, is larger than vetledger reads.',
    todo: 'Find the large field in the practice software and shorten it. The document is posted automatically in the next window.',
  },
  foreign_reference: {
    holds: true,
    sentence: 'The document refers to a record by an address of another installation or another resource (P6).',
    todo: 'Correct the reference in the practice software, or report it to the vendor. If all addresses are wrong, check `base_url` and the `id` of the installation in the config.',
  },
  record_unusable: {
    holds: true,
    sentence: 'A record of the source has no usable id, so vetledger cannot store it as a document. It is put aside.',
    todo: 'Report the record to the vendor of the practice software, with the page and position from the message. Once the record has an id, a window reads it automatically.',
  },
  foreign_record: {
    holds: true,
    sentence: "The record's own address names another installation or another resource. The record is put aside.",
    todo: 'Report it to the vendor of the practice software. If all records are affected, check `base_url` and the `id` of the installation in the config.',
  },
  date_missing: {
    holds: true,
    sentence: 'The record has no business date.',
    todo: 'Enter a date for the document in the practice software. It is posted automatically in the next window.',
  },
  date_invalid: {
    holds: true,
    sentence: 'A date in the record does not exist in the calendar.',
    todo: 'Correct the date in the practice software. The document is posted automatically in the next window.',
  },
  status_unknown: {
    holds: true,
    sentence: 'The record has a status that vetledger does not know.',
    todo: 'Find out what the status means. For a prepayment, add it to prepayment.statuses in mappings/practice-api.yaml.',
  },
  client_missing: {
    holds: true,
    sentence: 'The prepayment names no client, so its owner is unknown.',
    todo: 'Enter the client in the practice software. The prepayment is posted automatically in the next window.',
  },
  payment_type_unknown: {
    holds: true,
    sentence: 'The record names no payment type.',
    todo: 'Set the payment type in the practice software. The document is posted automatically in the next window.',
  },
  prepayment_type_refused: {
    holds: true,
    sentence: 'A prepayment cannot be paid by a consolidated invoice or by another prepayment.',
    todo: 'Correct the payment type of the prepayment in the practice software.',
  },
  invoice_unknown: {
    holds: true,
    sentence: 'The payment belongs to an invoice that vetledger has not read yet.',
    todo: 'Usually nothing: the invoice is fetched automatically. If the problem persists, check in the practice software whether the invoice still exists.',
  },

  // Proofs
  rows_missing: {
    holds: true,
    sentence: 'The invoice has amounts but no rows (P1).',
    todo: 'Usually nothing: the rows are fetched again automatically. If the problem persists, open the invoice in the practice software.',
  },
  rows_stale: {
    holds: true,
    sentence: 'The stored rows are older than the last change of their invoice (P2).',
    todo: 'Nothing: the rows are fetched again automatically.',
  },
  totals_disagree: {
    holds: true,
    sentence: "The rows do not add up to the document's totals (P1).",
    todo: 'Usually nothing: the rows are fetched again automatically. If the problem persists, compare rows and totals in the practice software.',
  },
  cents_unsettled: {
    holds: true,
    sentence: 'The lines cannot be rounded to the totals: a line would have to move by a minor unit or more.',
    todo: 'Compare the rows and totals of the document in the practice software: its row amounts contradict one another.',
  },
  entry_unbalanced: {
    holds: true,
    sentence: 'Debits and credits of the entry differ (P5).',
    todo: 'Report it with the output of `vetledger explain`: this is a defect of vetledger.',
  },
  amount_implausible: {
    holds: true,
    sentence: 'An amount is above 10,000,000, which is implausible for a document of a clinic (P6).',
    todo: 'Correct the amount in the practice software. The document is posted automatically in the next window.',
  },
  credit_cycle: {
    holds: true,
    sentence: 'Credit notes credit each other in a circle, or a credit note credits itself (P6).',
    todo: 'Correct in the practice software which invoices the credit notes credit. They are then posted automatically.',
  },
  contradiction: {
    holds: true,
    sentence:
      'An answer of the source has two different versions of the record. A request for only this record did not show the right version (P6).',
    todo: 'Usually nothing: the record is requested again once a day. If the problem persists, report the record to the vendor of the practice software.',
  },
  due_sum_disagrees: {
    holds: false,
    sentence: 'The amount due on the invoice is not its total minus its payments (P3).',
    todo: 'Usually nothing: the payments are fetched again automatically. If the problem persists, compare them in the practice software.',
  },
  overpaid: {
    holds: false,
    sentence: 'The payments exceed the total of the invoice: its due_sum is below zero.',
    todo: 'In the practice software, pay the excess back to the client or settle another invoice with it. If a payment was entered twice, cancel it there.',
  },
  paid_on_voided: {
    holds: false,
    sentence: 'The invoice is void or gone, but it has payments, and no receivable is left for them.',
    todo: 'In the practice software, pay the money back to the client, or cancel the payments and enter them on the right invoice.',
  },
  negative_without_original: {
    holds: false,
    sentence:
      'An invoice or credit note with a negative total, or a refund, does not name the document that it credits or refunds. It is posted as it is.',
    todo: 'Find out which document it credits or refunds. The practice software names the original if the credit note or refund is made from it.',
  },
  prepayment_unmatched: {
    holds: false,
    sentence:
      'We could not determine which prepayment this payment used: no single set of prepayments changed by its amount (R7). The payment reduces the liability of the client of the invoice. In an ERP, its line stays open.',
    todo: 'Usually nothing: a later change of a prepayment may show it. `vetledger problems match` proposes candidates. To set the prepayment yourself, run `vetledger problems match PAYMENT --prepayment ID --reason TEXT`.',
  },
  vat_due_unknown: {
    holds: false,
    sentence:
      'The invoice is dated before start_date, and its rows do not give its VAT. So no VAT becomes due with this payment (R13).',
    todo: 'Move the VAT by hand in the ERP. `vetledger explain` of the invoice says why its VAT is unknown.',
  },
  payer_name_changed: {
    holds: false,
    sentence:
      'The payer has another name in the source than in the entry. Key, VAT number and country are the same (R8).',
    todo: 'Nothing: the name alone does not change the entry. If it is another payer, credit the invoice in the practice software and write a new one.',
  },
  vat_rate_disagrees: {
    holds: false,
    sentence:
      'The VAT of a row differs from its rate by more than one minor unit. The row is posted with the VAT of the document.',
    todo: 'Check the VAT of the row in the practice software. If it is wrong, credit the invoice and write a new one.',
  },
  vat_rate_expired: {
    holds: false,
    sentence:
      'The date of the invoice is outside the days on which its VAT group is valid. For a credit note, the date of its first original counts. The document is posted, unless policies.vat_rate_expired is `hold`.',
    todo: 'Nothing, if the treatment was on a day on which the rate was valid. Otherwise credit the invoice in the practice software and write it with the right rate. `from` and `to` are in `vat_groups` of the mapping file.',
  },
  eu_without_vat_number: {
    holds: false,
    sentence:
      "A sale to a company of another EU country, or under reverse charge, has no VAT number of the buyer. Or the number is of the clinic's own country.",
    todo: 'Ask the buyer for the VAT number and enter it in the practice software. If there is none, credit the invoice and write it with VAT.',
  },
  collector_disagrees: {
    holds: false,
    sentence: 'The total of a consolidated invoice is not the sum of the payments that its members received from it.',
    todo: 'Compare the consolidated invoice with its members. The difference stays on consolidation_clearing.',
  },

  voucher_with_vat: {
    holds: true,
    sentence: 'The mapping posts a row to a liability for gift cards or vouchers, but the row has VAT (R1).',
    todo: 'A voucher whose VAT is known at the sale is revenue: take its account out of `revenue_rules` in the mapping file and run `vetledger sync`. If the VAT is wrong, correct the row in the practice software.',
  },
  rounding_too_large: {
    holds: true,
    sentence: 'A payment of type 3 (rounding) is larger than a cash rounding can be (R4).',
    todo: 'Correct the payment in the practice software. If your currency rounds to larger coins, raise policies.rounding_limit in the mapping file and run `vetledger sync`.',
  },

  // Mapping (P4)
  role_unmapped: {
    holds: true,
    sentence: 'The mapping has no account for a role that the document requires.',
    todo: 'Add the account under `roles` in the mapping file and run `vetledger sync`, which loads the file. The document is then posted.',
  },
  account_unmapped: {
    holds: true,
    sentence: 'The mapping has no account for the revenue account of a row.',
    todo: 'Add it under `revenue` in the mapping file and run `vetledger sync`, which loads the file. Or give the row an account in the practice software.',
  },
  vat_group_unmapped: {
    holds: true,
    sentence: 'The mapping has no account for a VAT group, or the source names more than one group.',
    todo: 'Add the group under `vat` in the mapping file and run `vetledger sync`, which loads the file. The document is then posted.',
  },
  payment_type_unmapped: {
    holds: true,
    sentence: 'The mapping has no role for the payment type.',
    todo: 'Add the type and its role under `payment_types` in the mapping file and run `vetledger sync`, which loads the file.',
  },
  cash_customer_unmapped: {
    holds: true,
    sentence: 'The sale has no client, and the mapping names no cash customer.',
    todo: 'Set `cash_customer` in the mapping file and run `vetledger sync`, which loads the file. The document is then posted.',
  },

  // Dates, periods and changes
  date_in_future: {
    holds: true,
    sentence: 'The document is dated after tomorrow.',
    todo: 'If the date is right, nothing: the document is posted automatically on that day. Otherwise correct the date in the practice software.',
  },
  date_implausible: {
    holds: true,
    sentence: 'The document is dated long before it was recorded (policies.oldest_months of the mapping).',
    todo: 'Correct the date in the practice software. If it is right, run `vetledger late decide` with the id of the document. --accept-date posts it on its date; --redate posts it on the first open day after it was recorded.',
  },
  dated_before_start: {
    holds: true,
    sentence:
      'The document was recorded on or after start_date but is dated before it, so the opening balances do not contain it.',
    todo: 'Run `vetledger late decide` with the id of the document: --redate posts it on the first open day, --wait does not post it. Or correct its date in the practice software.',
  },
  period_locked: {
    holds: true,
    sentence: 'The date of the document is in a closed period, or was in one at a close.',
    todo: 'Run `vetledger late decide` with the id of the document. --redate posts it on the first open day; --wait does not post it. --as-dated posts it on its own date once the period is open. `vetledger ledger reopen` opens it in our books; otherwise open it in the ERP.',
  },
  change_held: {
    holds: true,
    sentence:
      'The document changed after it was posted, and the correction would be in a closed period. The old entry stays in force.',
    todo: 'Run `vetledger late decide` with the id of the document. --redate posts the correction on the first open day; --wait keeps the old entry for now; --leave-as-posted keeps it for good. --as-dated posts it on its own dates once the period is open. `vetledger ledger reopen` opens it in our books; otherwise open it in the ERP.',
  },
  left_as_posted: {
    holds: false,
    sentence:
      'The document changed after it was posted, and the accountant decided to leave the old entry in force. The correction is not posted.',
    todo: 'Nothing. To post the correction after all, run `vetledger late decide` with the id of the document and --redate. If the document changes again, it needs a new decision.',
  },
  missing_in_source: {
    holds: false,
    sentence:
      'The document is posted, but a complete read of the list did not show it, or one of its rows. This does not prove a deletion: the document stays posted.',
    todo: 'Find out in the practice software whether it was deleted, or whether the token lost a right. The problem ends when the source shows the document again. If it was deleted, `vetledger late decide` with its id and --confirm-gone reverses it.',
  },
  source_shrank: {
    holds: false,
    sentence:
      'A list of the source no longer shows more than 5, and more than 2 %, of its posted documents. They stay posted.',
    todo: 'First check the rights of the token and the practice software. The problem ends when the source shows the documents again. If all of them were deleted, `vetledger late decide --filter code=source_shrank,kind=KIND --number N --confirm-gone` reverses them; N is their number.',
  },
  internal_error: {
    holds: true,
    sentence: 'Storing or posting the document failed unexpectedly. Other documents are not affected.',
    todo: 'Report the code and kind of the error. `vetledger problems retry` with the id of the document tries it again.',
  },
  changed_unseen: {
    holds: false,
    sentence:
      'The scrub found that the document or its rows changed in the source without a new `modified`. No window could notice the change. The books now follow it.',
    todo: 'Compare the document with its history in the practice software. If this happens often, report it to the vendor: only the scrub finds changes without a new `modified`.',
  },
  opening_changed: {
    holds: false,
    sentence:
      'A document dated before start_date was created, voided or changed on or after it. The opening balances may be wrong.',
    todo: 'Compare the document with the opening balances. If they do not contain it, add it there.',
  },
} as const satisfies Record<string, ProblemDefinition>);

export type ProblemCode = keyof typeof problemCatalogue;
