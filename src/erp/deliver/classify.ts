import { deliveryFindings } from '../../texts/findings/delivery.ts';
import { type CompareOptions, compareEntry, describeDifferences } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import type { InErp } from '../outbox/record-outcomes.ts';

/** The result of looking up an entry. `surplus`: ids of drafts to delete. */
export type Finding =
  | { is: 'delivered'; inErp: InErp; surplus: string[] }
  | { is: 'refused'; code: 'erp_differs' | 'erp_doubled'; message: string; inErp: InErp; surplus: string[] }
  /** The ERP has the entry as a draft. The draft equals the sent entry, or the accountant must decide about it. */
  | { is: 'draft'; draft: FoundEntry; surplus: string[] }
  /** The ERP does not have the entry. `differs` has the differences of a draft with the entry's key, if there is one. */
  | { is: 'absent'; surplus: string[]; differs: string | null }
  /** The answer was incomplete, so a missing entry proves nothing. */
  | { is: 'unknown' };

export interface ClassifyOptions extends CompareOptions {
  isComplete: boolean;
  canWithdrawDrafts: boolean;
  voidIsAbsent: boolean;
  /** Drafts are left to the accountant, who may change them. */
  isReview: boolean;
}

/** Classifies the entries that a look-up found under one key. */
export function classify(entry: ErpEntry, found: readonly FoundEntry[], options: ClassifyOptions): Finding {
  const posted = found.filter(({ state }) => state === 'posted');
  const drafts = found.filter(({ state }) => state === 'draft');
  const surplus = options.isComplete && options.canWithdrawDrafts ? drafts.map(({ id }) => id) : [];
  const [first, second] = posted;
  if (first && second) {
    const numbers = posted.map(({ id, number }) => number ?? id).join(', ');
    return {
      is: 'refused',
      code: 'erp_doubled',
      message: deliveryFindings.doubled({ numbers }),
      inErp: inErpOf(first),
      surplus,
    };
  }
  if (first) return { ...judgePosted(entry, first, options), surplus };
  if (!options.isComplete) return { is: 'unknown' };
  const kept = drafts.find((draft) => compareEntry(entry, draft, options).length === 0);
  const ours = kept ?? (options.isReview ? drafts[0] : undefined);
  if (ours) return { is: 'draft', draft: ours, surplus: surplus.filter((id) => id !== ours.id) };
  const [draft] = drafts;
  const voided = options.voidIsAbsent ? undefined : found[0];
  if (draft && !options.canWithdrawDrafts) return differing(entry, draft, options);
  if (voided && drafts.length === 0) return differing(entry, voided, options);
  const differs = draft ? describeDifferences(compareEntry(entry, draft, options)) : null;
  return { is: 'absent', surplus, differs };
}

/** Compares a posted entry with what was sent. */
export function judgePosted(
  entry: ErpEntry,
  found: FoundEntry,
  options: CompareOptions,
): Extract<Finding, { is: 'delivered' | 'refused' }> {
  const differences = compareEntry(entry, found, options);
  return differences.length === 0
    ? { is: 'delivered', inErp: inErpOf(found), surplus: [] }
    : differing(entry, found, options);
}

function differing(entry: ErpEntry, found: FoundEntry, options: CompareOptions): Extract<Finding, { is: 'refused' }> {
  const message = describeDifferences(compareEntry(entry, found, options));
  return { is: 'refused', code: 'erp_differs', message, inErp: inErpOf(found), surplus: [] };
}

export function inErpOf({ id, number, date }: FoundEntry): InErp {
  return { id, number, date };
}
