import type { EffectForm } from './effect-form.ts';
import { decideLate } from './late.ts';
import { matchPrepayment } from './match.ts';
import { repostDocument } from './repost.ts';
import { retryDocuments } from './retry.ts';

/** The forms about documents. */
export const documentForms = {
  decide_late: decideLate,
  retry_documents: retryDocuments,
  match_prepayment: matchPrepayment,
  repost_document: repostDocument,
} satisfies Record<string, EffectForm>;
