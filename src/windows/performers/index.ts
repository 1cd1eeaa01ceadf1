import { performDecision } from '../../bookkeeping/asked-decision.ts';
import type { PerformedKind } from '../../console/users/permitted-actions.ts';
import { pauseDelivery, resumeDelivery } from '../../erp/outbox/state.ts';
import { setPaused } from '../../sync/pauses.ts';
import { performClose, performFiling, performReopening } from './closing.ts';
import { performAck, performApproval, performResend, performUndo } from './deliveries.ts';
import { performMatch, performRepost, performRetry } from './documents.ts';
import type { LongKind } from './long.ts';
import { performApproval as performMapping } from './mappings.ts';
import { changePause } from './pauses.ts';
import type { Perform } from './performer.ts';
import type { OutsideKind } from './windows.ts';

/** The code that performs each kind of action, in one transaction with its outcome. */
export const performers: Record<Exclude<PerformedKind, OutsideKind | LongKind>, Perform> = {
  decide_late: performDecision,
  retry_documents: performRetry,
  match_prepayment: performMatch,
  repost_document: performRepost,
  apply_mapping: performMapping,
  ...{ close_books: performClose, reopen_books: performReopening, file_vat_return: performFiling },
  pause_windows: changePause('windows', (trx, id, by) => setPaused(trx, id, true, by)),
  resume_windows: changePause('windows', (trx, id, by) => setPaused(trx, id, false, by)),
  pause_delivery: changePause('delivery', pauseDelivery),
  resume_delivery: changePause('delivery', resumeDelivery),
  approve_delivery: performApproval,
  retry_delivery: performResend,
  undo_delivery: performUndo,
  acknowledge_batch: performAck,
};
