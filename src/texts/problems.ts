/**
 * A kind of problem that a document can have. One that `holds` keeps the document out of the books until its cause is gone; the
 * others are reported and the document is posted. docs/reference/PROBLEMS.md is generated from the catalogue.
 */
export interface ProblemDefinition {
  holds: boolean;
  sentence: string;
  todo: string;
}

export const problemCatalogue = {
  // The record itself
  amount_missing: {
    holds: true,
    sentence: 'An amount that posting needs is absent from the record.',
    todo: 'Open the document in the practice software and complete it; it posts by itself in the next window.',
  },
  amount_invalid: {
    holds: true,
    sentence: 'An amount in the record is not a number.',
    todo: 'Report the record to the practice software vendor; it posts by itself once the amount can be read.',
  },
  amount_precision: {
    holds: true,
    sentence: "A total has more decimals than the installation's currency.",
    todo: 'Check `currency` of the installation in the config; if it is right, report the record to the practice software vendor.',
  },
  field_invalid: {
    holds: true,
    sentence: 'A field that posting needs cannot be read.',
    todo: 'Report the record to the practice software vendor, or correct the field names in mappings/practice-api.yaml.',
  },
  record_too_large: {
    holds: true,
    sentence: 'The record, or a part of the document, is far larger than any that can be read.',
    todo: 'Find out in the practice software what fills the record, and shorten it; the document posts by itself in the next window.',
  },
  foreign_reference: {
    holds: true,
    sentence: 'The document refers to a record by an address of another installation or another resource (P6).',
    todo: 'Correct the reference in the practice software, or report it to the vendor; if all addresses are so, check `base_url` and the `id` of the installation in the config.',
  },
  record_unusable: {
    holds: true,
    sentence: 'A record of the source has no id that serves, so that no document can be made of it. It is put aside.',
    todo: 'Report the record to the practice software vendor by the page and position that the message names; once it has an id, a window takes it by itself.',
  },
  foreign_record: {
    holds: true,
    sentence: 'A record is of another installation or another resource, by its own address. It is put aside.',
    todo: 'Report it to the practice software vendor; if all records are so, check `base_url` and the `id` of the installation in the config.',
  },
  date_missing: {
    holds: true,
    sentence: 'The record has no business date.',
    todo: 'Give the document a date in the practice software; it posts by itself in the next window.',
  },
  date_invalid: {
    holds: true,
    sentence: 'A date in the record is no day of the calendar.',
    todo: 'Correct the date in the practice software; the document posts by itself in the next window.',
  },
  status_unknown: {
    holds: true,
    sentence: 'The record has a status whose meaning is not known.',
    todo: 'Find out what the status means; for a prepayment, add it to prepayment.statuses in mappings/practice-api.yaml.',
  },
  client_missing: {
    holds: true,
    sentence: 'The prepayment names no client, so nobody could be told whose money it is.',
    todo: 'Name the client in the practice software; the prepayment posts by itself in the next window.',
  },
  payment_type_unknown: {
    holds: true,
    sentence: 'The record names no payment type.',
    todo: 'Set the payment type in the practice software; the document posts by itself in the next window.',
  },
  prepayment_type_refused: {
    holds: true,
    sentence: 'A prepayment cannot be paid by a consolidated invoice or by another prepayment.',
    todo: 'Correct the payment type of the prepayment in the practice software.',
  },
  invoice_unknown: {
    holds: true,
    sentence: 'The payment belongs to an invoice that has not been seen yet.',
    todo: 'Nothing, usually: the invoice is fetched by itself. If it stays so, check that the invoice still exists.',
  },

  // Proofs
  rows_missing: {
    holds: true,
    sentence: 'The invoice has amounts but no rows (P1).',
    todo: 'Nothing, usually: its rows are fetched again. If it stays so, open the invoice in the practice software.',
  },
  rows_stale: {
    holds: true,
    sentence: 'The rows at hand are older than the last change of their invoice (P2).',
    todo: 'Nothing: the rows are fetched again by themselves.',
  },
  totals_disagree: {
    holds: true,
    sentence: "The rows do not add up to the document's own totals (P1).",
    todo: 'Nothing, usually: the parts are fetched again. If it stays so, compare rows and totals in the practice software.',
  },
  cents_unsettled: {
    holds: true,
    sentence: 'The totals cannot be reached by moving each line by less than one minor unit.',
    todo: 'Compare rows and totals of the document in the practice software; its row amounts contradict one another.',
  },
  entry_unbalanced: {
    holds: true,
    sentence: 'Debits and credits of the entry differ (P5).',
    todo: 'Report it with the output of `vetledger explain`: posting made an entry that it must not make.',
  },
  amount_implausible: {
    holds: true,
    sentence: 'An amount is above 10,000,000, which no document of a practice is (P6).',
    todo: 'Correct the amount in the practice software; the document posts by itself in the next window.',
  },
  credit_cycle: {
    holds: true,
    sentence: 'Credit notes credit each other in a circle, or one credits itself (P6).',
    todo: 'Correct in the practice software what the credit notes credit; they post by themselves then.',
  },
  contradiction: {
    holds: true,
    sentence:
      'One answer of the source has two different versions of the record, and the record alone was not given either (P6).',
    todo: 'Nothing, usually: it is asked for again once a day. If it stays so, report the record to the practice software vendor.',
  },
  due_sum_disagrees: {
    holds: false,
    sentence: 'What is due on the invoice is not its total minus its payments (P3).',
    todo: 'Nothing, usually: its payments are fetched again. If it stays so, compare them in the practice software.',
  },
  overpaid: {
    holds: false,
    sentence: 'More was paid on the invoice than it asks for: its due_sum is below zero.',
    todo: 'Pay the rest back to the client, or settle another invoice with it, in the practice software; if a payment was entered twice, cancel it there.',
  },
  negative_without_original: {
    holds: false,
    sentence:
      'An invoice or credit note with a negative total, or a refund of a prepayment, names no original that it credits or pays back. It is posted as it is.',
    todo: 'Find out what it is for. Credit notes and refunds that are made from their original in the practice software name it.',
  },
  prepayment_unmatched: {
    holds: false,
    sentence:
      'Of a payment from a prepayment it is not known whose prepayment it used: no one set of prepayments changed by its amount (R7). Its liability stands under the client of the invoice.',
    todo: 'Nothing, usually: a later change of a prepayment may tell. `vetledger problems match` proposes which one it was. If you know it, say so: `vetledger problems match PAYMENT --prepayment ID --reason TEXT`.',
  },
  payer_name_changed: {
    holds: false,
    sentence:
      'The payer is called otherwise in the source than in the entry; key, VAT number and country are the same (R8).',
    todo: 'Nothing: a name alone is no posted fact. If it is another payer, credit the invoice in the practice software and write a new one.',
  },
  vat_rate_disagrees: {
    holds: false,
    sentence: 'The VAT of a row is more than one minor unit away from its rate. It was posted as the document says.',
    todo: 'Check the VAT of the row in the practice software; credit and rewrite the invoice if it is wrong.',
  },
  vat_rate_expired: {
    holds: false,
    sentence:
      'The invoice is dated outside the days on which its VAT group is valid. It is posted, unless policies.vat_rate_expired is `hold`; for a credit note the date of its first original counts.',
    todo: 'Nothing, if the treatment was on a day on which the rate was valid. Otherwise credit the invoice in the practice software and write it with the right rate. `from` and `to` are in `vat_groups` of the mapping file.',
  },
  eu_without_vat_number: {
    holds: false,
    sentence:
      'A sale to a company of another EU country, or one under reverse charge, names no VAT number of the buyer, or one of our own country.',
    todo: 'Ask the buyer for its VAT number and enter it in the practice software; without one, credit the invoice and write it with VAT.',
  },
  collector_disagrees: {
    holds: false,
    sentence: "The total of a consolidated invoice is not the sum of its members' payments by it.",
    todo: 'Compare the consolidated invoice with its members; the difference stays on consolidation_clearing.',
  },

  voucher_with_vat: {
    holds: true,
    sentence: 'The mapping sends a row to a liability for gift cards or vouchers, and the row has VAT (R1).',
    todo: 'A voucher whose VAT is known when it is sold is revenue: take its account out of the rule in `revenue_rules` of the mapping file and run `vetledger sync`; or correct the VAT of the row in the practice software.',
  },
  rounding_too_large: {
    holds: true,
    sentence: 'A payment of type 3 (rounding) is larger than any rounding of cash (R4).',
    todo: 'Correct the payment in the practice software; if your currency rounds to larger coins, raise policies.rounding_limit in the mapping file and run `vetledger sync`.',
  },

  // Mapping (P4)
  role_unmapped: {
    holds: true,
    sentence: 'The mapping gives no account for a role that the document needs.',
    todo: 'Add the account under `roles` in the mapping file and run `vetledger sync`, which takes it into use; the document posts then.',
  },
  account_unmapped: {
    holds: true,
    sentence: "The mapping gives no account for a row's revenue account.",
    todo: 'Add it under `revenue` in the mapping file and run `vetledger sync`, which takes it into use; or give the row an account in the practice software.',
  },
  vat_group_unmapped: {
    holds: true,
    sentence: 'The mapping gives no account for a VAT group, or the source names more than one.',
    todo: 'Add the group under `vat` in the mapping file and run `vetledger sync`, which takes it into use; the document posts then.',
  },
  payment_type_unmapped: {
    holds: true,
    sentence: 'The payment type has no role.',
    todo: 'Say under `payment_types` in the mapping file to which role this type belongs, and run `vetledger sync`, which takes it into use.',
  },
  cash_customer_unmapped: {
    holds: true,
    sentence: 'The sale has no client, and the mapping names no cash customer.',
    todo: 'Set `cash_customer` in the mapping file and run `vetledger sync`, which takes it into use; the document posts then.',
  },

  // Dates, periods and changes
  date_in_future: {
    holds: true,
    sentence: 'The document is dated after tomorrow.',
    todo: 'Nothing where the date is right: it posts by itself when its day comes. Otherwise correct the date in the practice software.',
  },
  date_implausible: {
    holds: true,
    sentence: 'The document is dated long before it was recorded (policies.oldest_months of the mapping).',
    todo: 'Correct the date in the practice software. Where it is right: `vetledger late decide` with its id and --accept-date, or --redate to post it on the first open day after it was recorded.',
  },
  dated_before_start: {
    holds: true,
    sentence:
      'The document was recorded on or after start_date and is dated before it, so the opening balances cannot hold it.',
    todo: 'Decide with `vetledger late decide` and its id: --redate posts it on the first open day, --wait leaves it out. Or correct its date in the practice software.',
  },
  period_locked: {
    holds: true,
    sentence: "The document's date lies in a period that is closed, or was when the books were closed.",
    todo: 'Decide with `vetledger late decide` and its id: --redate posts it on the first open day, --as-dated on its own once the period is open (`vetledger ledger reopen` for our own books, otherwise in the ERP), --wait leaves it out.',
  },
  change_held: {
    holds: true,
    sentence:
      'The document changed after it was posted, and the correction would fall into a closed period. The old entry stays.',
    todo: 'Decide with `vetledger late decide` and its id: --redate posts the correction on the first open day, --as-dated on its own dates once the period is open (`vetledger ledger reopen` for our own books, otherwise in the ERP), --wait leaves the old entry.',
  },
  missing_in_source: {
    holds: false,
    sentence:
      'The document is posted, and a whole list of the source does not show it, or a row of it, any more. That proves nothing: it stays posted.',
    todo: 'Find out in the practice software whether it was deleted, or whether the token lost a right. It loses the problem when it is shown again. Where it is gone for good: `vetledger late decide` with its id and --confirm-gone reverses it.',
  },
  source_shrank: {
    holds: false,
    sentence:
      'A list of the source does not show more than 5, and more than 2 %, of the posted documents that it showed before. They stay posted.',
    todo: 'Check the rights of the token and the practice software first. They lose the problem when they are shown again. Where all of them are gone for good: `vetledger late decide --filter code=source_shrank,kind=KIND --number N --confirm-gone` with the number shown reverses them.',
  },
  internal_error: {
    holds: true,
    sentence: 'Storing or posting the document failed unexpectedly. Everything beside it was stored and posted.',
    todo: 'Report the code and kind of the error; `vetledger problems retry` with its id tries the document again.',
  },
  changed_unseen: {
    holds: false,
    sentence:
      'The scrub found the document, its rows included, otherwise in the source than in the mirror, though no window had reason to ask for it: its `modified` had not moved. The books follow it.',
    todo: 'Compare the document with its history in the practice software. If this happens often, report it to the vendor: changes without a new `modified` are found by the scrub only.',
  },
  opening_changed: {
    holds: false,
    sentence:
      'A document dated before start_date was created, voided or changed on or after it; opening balances may be off.',
    todo: 'Compare the document with the opening balances and correct those by hand if they lack it.',
  },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof problemCatalogue;
