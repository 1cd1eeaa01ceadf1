/**
 * Why a unit of the general ledger is not in the ERP. docs/reference/PROBLEMS.md is generated from this catalogue. `retried`: tried again by
 * itself; otherwise nothing is sent again before `vetledger deliver retry`, because a refusal that is repeated may block the
 * account of the API user.
 */
export interface ErpProblemDefinition {
  retried: boolean;
  sentence: string;
  todo: string;
}

export const erpProblemCatalogue = {
  // The mapping
  vat_code_unmapped: {
    retried: true,
    sentence: 'The mapping gives no tax code of the ERP for a VAT group and rate.',
    todo: 'Add it under `erp.vat_codes` in the mapping file and run `vetledger sync`, which takes it into use; the entry is sent by itself.',
  },
  dimension_unmapped: {
    retried: true,
    sentence: 'The mapping gives no value of the ERP for a dimension.',
    todo: 'Add it under `erp.dimensions` in the mapping file and run `vetledger sync`, which takes it into use; the entry is sent by itself.',
  },
  journal_unmapped: {
    retried: true,
    sentence: 'The mapping names no journal of the ERP for this kind of document.',
    todo: 'Add it under `erp.journals` in the mapping file and run `vetledger sync`, which takes it into use; the entry is sent by itself.',
  },
  party_unmapped: {
    retried: true,
    sentence: 'A line needs a party, and the mapping names no collective one.',
    todo: 'Set `erp.collective_party` in the mapping file and run `vetledger sync`, which takes it into use; the entry is sent by itself.',
  },

  // What the ERP refuses
  erp_account_unknown: {
    retried: false,
    sentence: 'The ERP has no such account, or it is closed or not postable.',
    todo: 'Create or open the account in the ERP, or change the mapping file and run `vetledger sync`; then `vetledger deliver retry`.',
  },
  erp_tax_unknown: {
    retried: false,
    sentence: 'The ERP has no such tax code.',
    todo: 'Create the tax in the ERP, or correct `erp.vat_codes` in the mapping file and run `vetledger sync`; then `vetledger deliver retry`.',
  },
  erp_dimension_unknown: {
    retried: false,
    sentence: 'The ERP has no such value of a dimension.',
    todo: 'Create it in the ERP, or correct `erp.dimensions` in the mapping file and run `vetledger sync`; then `vetledger deliver retry`.',
  },
  erp_journal_unknown: {
    retried: false,
    sentence: 'The ERP has no such journal.',
    todo: 'Create the journal in the ERP, or correct `erp.journals` in the mapping file and run `vetledger sync`; then `vetledger deliver retry`.',
  },
  erp_party_refused: {
    retried: false,
    sentence: 'The ERP has no such party, has it twice, or refuses it.',
    todo: 'Look the party up in the ERP by the code in the message and correct it there; then `vetledger deliver retry`.',
  },
  erp_period_missing: {
    retried: false,
    sentence: 'The ERP has no period for the date of the entry.',
    todo: 'Create the fiscal year or period in the ERP; then `vetledger deliver retry`.',
  },
  period_closed_in_erp: {
    retried: false,
    sentence: 'The period of the entry was closed in the ERP before the entry was sent.',
    todo: 'Open the period in the ERP, and the journals of that period where the ERP closes them with it and does not open them again (as Tryton does); then `vetledger deliver retry`. Or `vetledger late decide` with --redate posts it, an entry or a day’s summary, on the first open day.',
  },
  erp_unbalanced: {
    retried: false,
    sentence: 'The ERP says that the entry does not balance.',
    todo: 'Report it with the output of `vetledger explain`: our entry balances.',
  },
  erp_too_large: {
    retried: false,
    sentence: 'The entry has more lines or is longer than the ERP takes.',
    todo: 'Enter it by hand in the ERP, or use posting_mode: daily_summary; then `vetledger deliver retry`.',
  },
  erp_not_in_pairs: {
    retried: false,
    sentence: 'The format has pairs of two different accounts, and the entry cannot be told in such pairs.',
    todo: 'Enter it by hand; nothing of it is in a file.',
  },
  erp_refused: {
    retried: false,
    sentence: 'The ERP refuses the entry.',
    todo: 'Correct in the ERP what its message says; then `vetledger deliver retry`.',
  },
  erp_refused_unknown: {
    retried: false,
    sentence:
      'The ERP refused the entry three times with a message that is not known; a complete look-up found nothing of it.',
    todo: 'Correct in the ERP what its message says; then `vetledger deliver retry`.',
  },
  erp_right_missing: {
    retried: false,
    sentence: 'The API user lacks the right to do this in the ERP.',
    todo: 'Give the API user the right; `vetledger erp check` tells which; then `vetledger deliver retry`.',
  },

  // Open items
  erp_item_unmatched: {
    retried: true,
    sentence: 'Receivable lines that settle an invoice stay unmatched in the ERP; its entries are delivered.',
    todo: 'Match them in the ERP, or correct there what the message says; it is looked at again daily.',
  },

  // What the read-back shows
  erp_differs: {
    retried: false,
    sentence: 'The ERP holds the entry otherwise than it was sent.',
    todo: 'Correct it in the ERP as `vetledger reconcile --erp` shows; then `vetledger deliver retry`, which looks it up and never sends it again.',
  },
  erp_doubled: {
    retried: false,
    sentence: 'The ERP holds the entry more than once, posted.',
    todo: 'Reverse the surplus one in the ERP; then `vetledger deliver retry`, which looks it up and never sends it again.',
  },
  erp_posted_elsewhere: {
    retried: false,
    sentence:
      'Another database of vetledger has posted this document in the ERP, with later corrections than this one knows.',
    todo: 'Compare the entry in the ERP with `vetledger explain`. Where it is right, leave it. Where it is wrong, reverse it in the ERP and run `vetledger deliver retry`, which sends ours.',
  },
  erp_batch_differs: {
    retried: false,
    sentence: 'A batch of files that was handed over before the database was restored has the entry otherwise.',
    todo: 'Compare the entry in the file with `vetledger explain`; later entries of the document may correct it. Where the books of the accountants are right, leave it. Where they are wrong, have it reversed there, and run `vetledger deliver retry`, which hands ours over.',
  },
  erp_draft_deleted: {
    retried: false,
    sentence: 'The draft that was left for the accountant is not in the ERP any more, and was not posted.',
    todo: 'Nothing where that was meant: correct the document in the practice software. `vetledger deliver retry` makes the draft anew.',
  },

  // What nobody can tell but people
  erp_unverified: {
    retried: false,
    sentence: 'The ERP may have the entry, and offers no way to look it up.',
    todo: 'Look for it in the ERP. Only where it is missing, run `vetledger deliver retry`, which sends it again.',
  },
  erp_company_changed: {
    retried: false,
    sentence: 'The entry may be in the company that the configuration named before.',
    todo: 'Look for it there. Only where it is to be in the new company, run `vetledger deliver retry`.',
  },

  // The practice software is told the ERP's number
  external_id_taken: {
    retried: true,
    sentence: 'Where the ERP’s number would stand in the practice software, a value stands that is not ours.',
    todo: 'Find out which program wrote it; remove it in the practice software if the number is wanted there, which is then written within a day.',
  },
  external_id_of_another: {
    retried: false,
    sentence: 'In the practice software a prepayment carries the id, or the ERP’s number, of another document of ours.',
    todo: 'Ask the vendor of the practice software why it stored the value there. `vetledger problems retry` with its id writes an entry id again; remove an ERP’s number in the practice software, and the right one is written within a day.',
  },
  write_back_unseen: {
    retried: false,
    sentence: 'The practice software accepted the entry id of a prepayment three times, and does not show it.',
    todo: 'Ask the vendor of the practice software why it does not store external_id. `vetledger problems retry` with its id writes it again.',
  },
  write_back_lost: {
    retried: false,
    sentence: 'The practice software showed the id that was written back to a prepayment, and does not any more.',
    todo: 'Find out in the practice software who removed it. `vetledger problems retry` with its id writes an entry id again; an ERP’s number is to be entered there by hand.',
  },
  number_not_written: {
    retried: true,
    sentence: 'The practice software refuses the ERP’s number, or does not keep it.',
    todo: 'See what its message says; it is tried again by itself, ever more seldom, at least once a day.',
  },
} as const satisfies Record<string, ErpProblemDefinition>;

export type ErpProblemCode = keyof typeof erpProblemCatalogue;
