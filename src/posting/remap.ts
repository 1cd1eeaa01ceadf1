import type { DraftEntry } from '../domain/entry.ts';
import { correct, decide, postsSameFacts } from './correct.ts';
import { sameLines } from './entry-content.ts';
import { doubtOf } from './late.ts';
import type { Decision, Judgement, PostedBefore, PostingContext } from './types.ts';

/**
 * The effect of a mapping on a document in the books:
 * - `same`: the mapping gives the same lines.
 * - `corrected`: the mapping gives other lines, so the entry is reversed and posted again.
 * - `change_held`: the mapping gives other lines, but the period is closed.
 * - `held`: the document could not be posted, because the mapping lacks an account or the facts are in doubt.
 * - `left`: the source's facts have changed, so the next window posts the document.
 */
export type RemapOutcome = 'same' | 'corrected' | 'change_held' | 'held' | 'left';

export interface Remap {
  outcome: RemapOutcome;
  decision: Decision;
  /** The entry that the present facts and mapping require. Null if they require none. */
  required: DraftEntry | null;
}

/**
 * Decides which entries to append after the mapping changed. A document with unchanged facts but other lines is
 * reversed and posted again with the reason `mapping_changed` (dates: ACCOUNTING "Locked").
 */
export function decideRemap(judgement: Judgement, before: PostedBefore, context: PostingContext): Remap {
  const { inForce, remapHeld = false } = before;
  const { entry: required } = judgement;
  const otherwise = decide(judgement, before, context);
  const waiting = { ...otherwise, remapHeld: remapHeld && otherwise.entries.length === 0 };
  // When the problem is solved, the document is posted with the new mapping.
  if (judgement.state === 'held')
    return { outcome: 'held', decision: { ...otherwise, remapHeld: inForce !== null }, required };
  if (!inForce || !required || !postsSameFacts(judgement, inForce))
    return { outcome: 'left', decision: waiting, required };
  if (sameLines(inForce.lines, required.lines)) return { outcome: 'same', decision: otherwise, required };
  // A doubtful date was decided when the entry was posted, so the correction keeps the entry's day.
  const isDoubtful = doubtOf(required, judgement.dating, context) !== null;
  const successor = isDoubtful ? { ...required, date: inForce.date } : required;
  const decision = correct(judgement, before, inForce, successor, 'mapping_changed', context);
  if (decision.entries.length > 0) return { outcome: 'corrected', decision, required };
  return { outcome: 'change_held', decision: { ...decision, remapHeld: true }, required };
}
