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
} as const satisfies Partial<Record<ActionKind, Permission>>;
export type AskedKind = keyof typeof permittedActions;

export function isAskedKind(kind: string): kind is AskedKind {
  return Object.hasOwn(permittedActions, kind);
}
