import type { ActionKind } from '../../actions/record.ts';
import type { Permission } from './rights.ts';

/** The actions that a user can ask for in the console, with the permission that each needs. */
export const permittedActions = {
  decide_late: 'decide',
  retry_documents: 'decide',
  match_prepayment: 'decide',
  repost_document: 'decide',
  propose_mapping: 'decide',
  apply_mapping: 'close',
  preview_repost: 'close',
  repost_books: 'close',
  close_books: 'close',
  reopen_books: 'close',
  file_vat_return: 'close',
  approve_action: 'close',
  withdraw_action: 'read_operations',
  pause_windows: 'operate',
  resume_windows: 'operate',
  pause_delivery: 'operate',
  resume_delivery: 'operate',
  approve_delivery: 'decide',
  retry_delivery: 'deliver',
  undo_delivery: 'deliver',
  acknowledge_batch: 'deliver',
  price_windows: 'operate',
  replay_windows: 'operate',
  backfill_windows: 'operate',
  cancel_windows: 'operate',
  nudge_windows: 'operate',
  nudge_delivery: 'deliver',
  cancel_delivery: 'operate',
  reconcile_books: 'reconcile',
} as const satisfies Partial<Record<ActionKind, Permission>>;
export type AskedKind = keyof typeof permittedActions;
/** The actions that a second person approves, if the configuration has `two_persons`. */
export const approvedKinds = ['close_books', 'reopen_books'] as const satisfies readonly AskedKind[];
/** An approval performs the approved action. A withdrawal performs nothing. */
export type PerformedKind = Exclude<AskedKind, 'approve_action' | 'withdraw_action'>;

export function isAskedKind(kind: string): kind is AskedKind {
  return Object.hasOwn(permittedActions, kind);
}
