import { catalogue } from '../catalogue.ts';

/** Decisions of people about the books, by the kind of the recorded action. */
export const decidedTexts = catalogue('reports/decisions.decidedTexts', {
  decide_late: 'decision about documents',
  redate: 'entries moved to an open day',
  match_prepayment: 'prepayment of a payment set',
  apply_mapping: 'mapping put in force',
  close_books: 'books closed',
  reopen_books: 'books opened again',
  file_vat_return: 'VAT return filed',
  approve_action: 'request of another user approved',
  adopt_identity: 'changed clinic accepted',
  adopt_entries: 'entries of another database accepted',
  erase_client: 'client erased',
  approve_delivery: 'delivery to the ERP approved',
  retry_delivery: 'delivery to the ERP repeated',
  undo_delivery: 'delivery to the ERP reversed',
  acknowledge_batch: 'file of entries acknowledged',
});
