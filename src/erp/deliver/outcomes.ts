import { redact } from '../../domain/redact.ts';
import { clip, postgresText, visible } from '../../domain/text.ts';
import type { FoundEntry } from '../erp-entry.ts';
import type { Outcome } from '../outbox/record-outcomes.ts';
import type { Doubt, OutboxUnit } from '../outbox/unit.ts';
import type { ErpError } from '../port.ts';
import { isSameMessage } from '../strategy.ts';
import type { Item } from './attempt.ts';
import { type Finding, inErpOf } from './classify.ts';

/** The outcome of a unit, from what the ERP has or from an error. */

/** Delay before a draft is looked up again. */
export const lookAtDraftsMs = 180_000;
const longestMessage = 500;

/**
 * The found entries by our key. An entry is assigned by the key in its record, or by the id that the ERP returned for
 * the key.
 */
export function byKey(
  items: readonly Item[],
  ids: Map<string, string>,
  found: readonly FoundEntry[],
): Map<string, FoundEntry[]> {
  const byId = new Map(found.map((entry) => [entry.id, entry]));
  return new Map(
    items.map(({ entry: { key } }) => {
      const id = ids.get(key);
      const entry = id === undefined ? undefined : byId.get(id);
      // The key in the record shows if the ERP returned the ids in another order.
      return [key, entry === undefined || (entry.key !== null && entry.key !== key) ? [] : [entry]];
    }),
  );
}

export function outcomeOf(unit: OutboxUnit, finding: Extract<Finding, { is: 'delivered' | 'refused' }>): Outcome {
  if (finding.is === 'delivered') return { unitId: unit.unit_id, state: 'delivered', inErp: finding.inErp };
  const { code, message, inErp } = finding;
  return { unitId: unit.unit_id, state: 'refused', code, message: messageText(message), inErp };
}

export function refusedOf(unit: OutboxUnit, code: string, message: string, found?: FoundEntry) {
  const inErp = found === undefined || found.state === 'draft' ? null : inErpOf(found);
  return { unitId: unit.unit_id, state: 'refused', code, message: messageText(message), inErp } as const;
}

export function draftedOf(unit: OutboxUnit, draft: FoundEntry): Outcome {
  return { unitId: unit.unit_id, state: 'drafted', inErp: inErpOf(draft), lookAgainMs: lookAtDraftsMs };
}

export function againOf(unit: OutboxUnit): Outcome {
  return {
    ...{ unitId: unit.unit_id, state: 'pending', isAnswered: false, unknownRefusals: unit.unknown_refusals, waitMs: 0 },
    ...{ batchLimit: unit.batch_limit, last: lastOf(unit) },
  };
}

export function lastOf({ problem_code: code, problem_message: message }: OutboxUnit) {
  return code === null ? null : { code, message: message ?? '' };
}

export function absentOf(unit: OutboxUnit) {
  return {
    doubt: unit.doubt,
    unknownRefusals: unit.unknown_refusals,
    problemCode: unit.problem_code,
    problemMessage: unit.problem_message,
  };
}

/** How often in a row the unit was refused with the same message. */
export function countedRefusals(unit: OutboxUnit, doubt: Doubt, message: string): number {
  if (doubt !== 'unknown' && doubt !== 'duplicate' && doubt !== 'unseen') return unit.unknown_refusals;
  return isSameMessage(unit.problem_message, message) ? unit.unknown_refusals + 1 : 1;
}

export function codeOfDoubt({ means }: ErpError): string {
  return means === 'refused' ? 'erp_refused' : means === 'duplicate' ? 'erp_refused_unknown' : 'erp_no_answer';
}

/** Makes a text from outside fit to store and show. */
export function messageText(message: string): string {
  return postgresText(clip(visible(redact(message, longestMessage)), longestMessage));
}
