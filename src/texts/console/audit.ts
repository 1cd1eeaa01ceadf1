import { catalogue } from '../catalogue.ts';

/** The screen Audit. */
export const auditTexts = catalogue('console/audit.auditTexts', {
  parts: 'Parts',
  partNames: {
    actions: 'Actions',
    closes: 'Closes',
    returns: 'VAT returns',
    rights: 'Rights',
    sign_ins: 'Sign-ins',
  },
  head: 'Head of the journal',
  headText: ({ seq, entries, hash }: { seq: number; entries: number; hash: string }) =>
    `link ${seq} with ${entries} entries, ${hash}`,
  summaries: 'Head of daily summaries',
  summariesText: ({ seq, hash }: { seq: number; hash: string }) => `link ${seq}, ${hash}`,
  actionChain: 'Chain of actions',
  intact: 'intact',
  verified: 'Chains and seals',
  verifiedNote: 'To check each link of the books: vetledger ledger verify',
  noFailure: ({ at }: { at: string }) => `no failure at the last reconciliation, ${at}`,
  failure: ({ failing, at }: { failing: string; at: string }) => `failure: ${failing}, ${at}`,
  notChecked: 'not checked yet',
  seal: 'Last seal',
  sealText: ({ n, seq, at }: { n: number; seq: number; at: string }) => `number ${n} at link ${seq}, ${at}`,
  noSeal: 'none',
  person: 'person',
  kind: 'action',
  asked: 'asked',
  ended: 'ended',
  state: 'state',
  input: 'request',
  erased: 'erased',
  from: 'From',
  to: 'To',
  second: 'second person',
  checklist: 'checklist',
  stored: 'Stored checklist',
  through: 'closed through',
  filed: 'filed',
  role: 'role',
  until: 'until',
  disabled: 'disabled',
  address: 'address',
  outcome: 'outcome',
});

export const auditStateNames = catalogue('console/audit.auditStateNames', {
  pending: 'waits for the daemon',
  done: 'done',
  refused: 'refused',
  expired: 'expired',
});

export const signInNames = catalogue('console/audit.signInNames', {
  signed_in: 'signed in',
  refused: 'refused',
  throttled: 'refused, too many attempts',
  signed_out: 'signed out',
});

/** Actions in the record, by kind. */
export const actionKindNames = catalogue('console/audit.actionKindNames', {
  decide_late: 'decision about a late document',
  redate: 'late documents dated on an open day',
  retry_documents: 'documents judged again',
  match_prepayment: 'payment matched with a prepayment',
  apply_mapping: 'mapping applied',
  close_books: 'books closed',
  reopen_books: 'books reopened',
  file_vat_return: 'VAT return filed',
  adopt_identity: 'changed identity adopted',
  adopt_database: 'database adopted',
  erase_client: 'client erased',
  approve_delivery: 'delivery approved',
  retry_delivery: 'delivery tried again',
  undo_delivery: 'delivery undone',
  acknowledge_batch: 'batch acknowledged',
  adopt_entries: 'entries of the ERP adopted',
  pause_windows: 'windows paused',
  resume_windows: 'windows resumed',
  cancel_windows: 'windows cancelled',
  nudge_windows: 'window requested',
  pause_delivery: 'delivery paused',
  resume_delivery: 'delivery resumed',
  cancel_delivery: 'delivery cancelled',
  nudge_delivery: 'delivery requested',
});
