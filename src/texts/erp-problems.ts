import { catalogue } from './catalogue.ts';

/**
 * The reason why a unit of the general ledger is not in the ERP, or a number is not in the practice software.
 * `retried`: the delivery tries again automatically. Otherwise it waits for `vetledger deliver retry`, because repeated
 * refusals may block the account of the API user. docs/reference/PROBLEMS.md is generated from this catalogue.
 */
export interface ErpProblemDefinition {
  retried: boolean;
  sentence: string;
  todo: string;
}

export const erpProblemCatalogue = catalogue('erp-problems.erpProblemCatalogue', {
  // The mapping
  vat_code_unmapped: {
    retried: true,
    sentence: 'The mapping has no tax code of the ERP for a VAT group and rate.',
    todo: 'Add it under `erp.vat_codes` in the mapping file and run `vetledger sync`, which loads the file. The entry is then sent automatically.',
  },
  dimension_unmapped: {
    retried: true,
    sentence: 'The mapping has no value of the ERP for a dimension.',
    todo: 'Add it under `erp.dimensions` in the mapping file and run `vetledger sync`, which loads the file. The entry is then sent automatically.',
  },
  journal_unmapped: {
    retried: true,
    sentence: 'The mapping names no journal of the ERP for this kind of document.',
    todo: 'Add it under `erp.journals` in the mapping file and run `vetledger sync`, which loads the file. The entry is then sent automatically.',
  },
  party_unmapped: {
    retried: true,
    sentence: 'A line requires a party, and the mapping names no collective party.',
    todo: 'Set `erp.collective_party` in the mapping file and run `vetledger sync`, which loads the file. The entry is then sent automatically.',
  },

  // Refusals of the ERP
  erp_account_unknown: {
    retried: false,
    sentence: 'The account does not exist in the ERP, or it is closed or not postable.',
    todo: 'Create or open the account in the ERP, or change the mapping file and run `vetledger sync`. Then run `vetledger deliver retry`.',
  },
  erp_tax_unknown: {
    retried: false,
    sentence: 'The tax code does not exist in the ERP.',
    todo: 'Create the tax in the ERP, or correct `erp.vat_codes` in the mapping file and run `vetledger sync`. Then run `vetledger deliver retry`.',
  },
  erp_dimension_unknown: {
    retried: false,
    sentence: 'The value of a dimension does not exist in the ERP.',
    todo: 'Create it in the ERP, or correct `erp.dimensions` in the mapping file and run `vetledger sync`. Then run `vetledger deliver retry`.',
  },
  erp_journal_unknown: {
    retried: false,
    sentence: 'The journal does not exist in the ERP.',
    todo: 'Create the journal in the ERP, or correct `erp.journals` in the mapping file and run `vetledger sync`. Then run `vetledger deliver retry`.',
  },
  erp_party_refused: {
    retried: false,
    sentence: 'The party does not exist in the ERP or exists twice, or the ERP refuses it.',
    todo: 'Find the party in the ERP by the code in the message and correct it there. Then run `vetledger deliver retry`.',
  },
  erp_period_missing: {
    retried: false,
    sentence: 'The ERP has no period for the date of the entry.',
    todo: 'Create the fiscal year or period in the ERP. Then run `vetledger deliver retry`.',
  },
  period_closed_in_erp: {
    retried: false,
    sentence: 'The period of the entry was closed in the ERP before the entry was sent.',
    todo: 'Open the period in the ERP. In an ERP such as Tryton, also open the journals of that period, which were closed with it. Then run `vetledger deliver retry`. Or run `vetledger late decide` with --redate, which posts the entry or daily summary on the first open day.',
  },
  erp_unbalanced: {
    retried: false,
    sentence: 'The ERP reports that the entry does not balance.',
    todo: 'Report it with the output of `vetledger explain`: our entry balances.',
  },
  erp_too_large: {
    retried: false,
    sentence: 'The entry is longer, or has more lines, than the ERP accepts.',
    todo: 'Enter it by hand in the ERP, or use posting_mode: daily_summary. Then run `vetledger deliver retry`.',
  },
  erp_not_in_pairs: {
    retried: false,
    sentence:
      'The file format has one debit and one credit account per line, and the entry cannot be split into such pairs.',
    todo: 'Enter it by hand in the ERP. No file contains any part of it.',
  },
  erp_vat_not_tellable: {
    retried: false,
    sentence: 'The ERP computes VAT itself, and cannot be made to compute the VAT of the entry.',
    todo: 'Enter it by hand in the ERP. vetledger sent no part of it. If the VAT has no sale, run `vetledger mapping check` with --erp, which names the setting to change.',
  },
  erp_refused: {
    retried: false,
    sentence: 'The ERP refuses the entry.',
    todo: 'Correct the cause in the ERP; the message names it. Then run `vetledger deliver retry`.',
  },
  erp_refused_unknown: {
    retried: false,
    sentence:
      'The ERP refused the entry three times with an unknown message. A complete look-up did not find the entry there.',
    todo: 'Correct the cause in the ERP; the message gives its text. Then run `vetledger deliver retry`.',
  },
  erp_right_missing: {
    retried: false,
    sentence: 'The API user lacks the right to do this in the ERP.',
    todo: 'Run `vetledger erp check` to see which right is missing, and give it to the API user. Then run `vetledger deliver retry`.',
  },

  // Open items
  erp_item_unmatched: {
    retried: true,
    sentence:
      'The entries of an invoice with its payments, or of prepayments with their uses, are in the ERP, but their lines are not matched there.',
    todo: 'Match the lines in the ERP, or correct the cause that the message names. vetledger checks the lines again every day.',
  },

  // Differences that the read-back shows
  erp_differs: {
    retried: false,
    sentence: 'The entry in the ERP differs from the entry that was sent.',
    todo: 'If the message says that a draft is deleted: correct what made it differ, such as an account or a tax of the ERP, and run `vetledger deliver retry`, which sends the entry again. Otherwise correct the entry in the ERP; `vetledger reconcile --erp` shows the differences. Then run `vetledger deliver retry`, which looks the entry up and does not send it again.',
  },
  erp_doubled: {
    retried: false,
    sentence: 'The entry is posted more than once in the ERP.',
    todo: 'Reverse the surplus entry in the ERP. Then run `vetledger deliver retry`, which looks the entry up and never sends it again.',
  },
  erp_posted_elsewhere: {
    retried: false,
    sentence:
      'Another database of vetledger posted this document in the ERP, with later corrections that this database does not have.',
    todo: 'Compare the entry in the ERP with `vetledger explain`. If it is right, leave it. If it is wrong, reverse it in the ERP and run `vetledger deliver retry`, which sends ours.',
  },
  erp_batch_differs: {
    retried: false,
    sentence:
      'A batch of files that was handed over before the database was restored contains the entry with other contents.',
    todo: 'Compare the entry in the file with `vetledger explain`; later entries of the document may correct it. If the books of the accountants are right, leave it. If they are wrong, have it reversed there and run `vetledger deliver retry`, which hands over our entry.',
  },
  erp_draft_deleted: {
    retried: false,
    sentence: 'The draft that was left for the accountant is no longer in the ERP, and was not posted.',
    todo: 'Nothing, if it was deleted on purpose: correct the document in the practice software. Otherwise `vetledger deliver retry` creates the draft again.',
  },

  // Problems that only an accountant can solve
  erp_unverified: {
    retried: false,
    sentence: 'The ERP may have the entry, but it has no way to look the entry up.',
    todo: 'Search for the entry in the ERP. Only if it is missing, run `vetledger deliver retry`, which sends it again.',
  },
  erp_company_changed: {
    retried: false,
    sentence: 'The entry may be in the company that the configuration named before.',
    todo: 'Search for the entry in that company. Only if it must be in the new company, run `vetledger deliver retry`.',
  },

  // Write-back to the practice software
  external_id_taken: {
    retried: true,
    sentence: 'The field for the ERP’s number in the practice software contains a value of another program.',
    todo: 'Find out which program wrote the value. To have the ERP’s number there, remove the value; the number is then written within a day.',
  },
  external_id_of_another: {
    retried: false,
    sentence: 'A prepayment in the practice software carries the entry id, or the ERP’s number, of another document.',
    todo: 'Ask the vendor of the practice software why it stored the value there. For an entry id, `vetledger problems retry` with the id of the prepayment writes the right one. Remove an ERP’s number in the practice software; the right one is then written within a day.',
  },
  write_back_unseen: {
    retried: false,
    sentence: 'The practice software accepted the entry id of a prepayment three times but does not show it.',
    todo: 'Ask the vendor of the practice software why it does not store external_id. `vetledger problems retry` with the id of the prepayment writes the entry id again.',
  },
  write_back_lost: {
    retried: false,
    sentence: 'The practice software showed the value that was written back to a prepayment, and no longer does.',
    todo: 'Find out in the practice software who removed it. `vetledger problems retry` with the id of the prepayment writes an entry id again. Enter an ERP’s number there by hand.',
  },
  number_not_written: {
    retried: true,
    sentence: 'The practice software refuses the ERP’s number or does not keep it, or its record is put aside.',
    todo: 'Read the message for the cause. Writing is tried again automatically, at growing intervals, at least once a day.',
  },
} as const satisfies Record<string, ErpProblemDefinition>);

export type ErpProblemCode = keyof typeof erpProblemCatalogue;
