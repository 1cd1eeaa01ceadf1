import { hashOf } from '../actions/record.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import { decisionChange } from '../texts/findings/late-documents.ts';
import type { WeighedChoice, WeighedDocument } from './weigh-decision.ts';

/** A decision about late documents, a new judgement of held ones, or a new posting with the mapping in force. */
export type ShownChoice = LateDecisionKind | 'retry' | 'repost';

/**
 * The effects that a person saw before a decision, as canonical text. When the decision is recorded, its effects must still give
 * the same hash.
 */
export function shownText(decision: ShownChoice, choices: readonly WeighedChoice[]): string {
  return JSON.stringify([
    decision,
    choices.map(({ installation, documents }) => [installation.id, documents.map(shown)]),
  ]);
}

/** SHA-256 of `shownText`, in hex. */
export function hashOfShown(decision: ShownChoice, choices: readonly WeighedChoice[]): string {
  return hashOf(shownText(decision, choices));
}

function shown({ kind, id, code, version, amount, vat, day, entries }: WeighedDocument) {
  return [kind, id, code, version, amount?.toFixed() ?? null, vat?.toFixed() ?? null, day, entries];
}

/** The differences between the shown and the present effects, a text for each document. */
export function changesBetween(before: readonly WeighedChoice[], now: readonly WeighedChoice[]): string[] {
  const [old, present] = [byId(before), byId(now)];
  const ids = [...new Set([...old.keys(), ...present.keys()])];
  return ids.flatMap((id) => {
    const [was, is] = [old.get(id), present.get(id)];
    if (was === undefined) return decisionChange.added({ document: id });
    if (is === undefined) return decisionChange.removed({ document: id });
    if (JSON.stringify(shown(was)) === JSON.stringify(shown(is))) return [];
    if (was.day !== is.day) return decisionChange.day({ document: id, from: was.day, to: is.day });
    const [from, to] = [was.amount?.toFixed() ?? null, is.amount?.toFixed() ?? null];
    return from === to ? decisionChange.content({ document: id }) : decisionChange.amount({ document: id, from, to });
  });
}

function byId(choices: readonly WeighedChoice[]): Map<string, WeighedDocument> {
  return new Map(
    choices.flatMap(({ installation, documents }) =>
      documents.map((each) => [`${installation.id}/${each.kind}/${each.id}`, each] as const),
    ),
  );
}
