import type { Dialect } from '../records/dialect.ts';
import { externalIdField, externalIdIn } from '../records/external-id.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '../records/json.ts';
import type { DocumentKind } from '../terms.ts';

export const writeBackStates = ['pending', 'done', 'failed'] as const;
export type WriteBackState = (typeof writeBackStates)[number];

/** What the source was told of a prepayment last. */
export interface RecordedWriteBack {
  entryId: string;
  state: WriteBackState;
  previousValue: string | null;
  /** It was sent, and nobody knows whether it took effect; `valueBefore` stood there when it was first sent. */
  doubt?: { valueBefore: string | null } | null;
}

export interface WriteBackFacts {
  /** `external_id` as the mirror has it. */
  externalId: string | null;
  /** Id of the entry in force. */
  entryId: string;
  recorded: RecordedWriteBack | null;
}

/** `write`: send the entry id; `note`: the source has it already, and only our record lacks it; `none`: nothing to do. */
export interface WriteBackPlan {
  action: 'write' | 'note' | 'none';
  /** The foreign value that ours replaces, kept in our record for ever; null when there was none. */
  previousValue: string | null;
}

/**
 * What to tell the source of a posted prepayment. A value that somebody else writes there later stays, because two integrations
 * would otherwise overwrite each other for ever. So does a value that came while it was in doubt whether ours was written. The entry
 * id of another document of ours is no such value: the source put it there by mistake.
 */
export function planWriteBack({ externalId, entryId, recorded }: WriteBackFacts): WriteBackPlan {
  const kept = recorded?.previousValue ?? null;
  if (recorded?.state === 'done' && recorded.entryId === entryId) return { action: 'none', previousValue: kept };
  if (externalId === entryId) return { action: 'note', previousValue: kept };
  const doubt = recorded?.entryId === entryId ? recorded.doubt : null;
  const isForeign = externalId !== null && !isEntryOfOurs(externalId, entryId);
  if (doubt && isForeign && externalId !== doubt.valueBefore) return { action: 'note', previousValue: kept };
  return { action: 'write', previousValue: isForeign ? externalId : kept };
}

/** Whether a value is the id of an entry of any document of the same installation. */
export function isEntryOfOurs(value: string, entryId: string): boolean {
  const installation = entryId.slice(0, entryId.indexOf('/') + 1);
  return (
    value.startsWith(installation) && /^(invoice|payment|prepayment)\/\d+\/\d+$/.test(value.slice(installation.length))
  );
}

/**
 * What a read after a write shows of it. `shown`: our id stands there. `foreign`: a value of somebody else, who wrote after us; it stays.
 * `unseen`: nothing, what stood there before, or an id of another document of ours. Then the source has not stored it.
 */
export type ReadBack = 'shown' | 'foreign' | 'unseen';

export interface ReadBackFacts {
  /** What the read shows. */
  externalId: string | null;
  entryId: string;
  /** What stood there before it was sent: just before, and before our first write. */
  before: readonly (string | null)[];
}

export function readBackOf({ externalId, entryId, before }: ReadBackFacts): ReadBack {
  if (externalId === entryId) return 'shown';
  if (externalId === null || before.includes(externalId) || isEntryOfOurs(externalId, entryId)) return 'unseen';
  return 'foreign';
}

export interface NumberFacts {
  /** `external_id` as it stands in the source. */
  current: string | null;
  /** What is to stand there. */
  value: string | null;
  /** The document has no entry in force any more: what stood there before ours is put back. */
  restores: boolean;
  /** Whether a value is one that we wrote there. */
  isOurs(value: string): boolean;
}

/** `write`: send it; `note`: nothing is to be sent; `taken`: somebody else's value stands there, and stays. */
export type NumberPlan = 'write' | 'note' | 'taken';

/** What to tell the source of a document that was delivered: never in the place of a value that is not ours. */
export function planNumber({ current, value, restores, isOurs }: NumberFacts): NumberPlan {
  if (current === value) return 'note';
  if (current === null) return restores ? 'note' : 'write';
  if (isOurs(current)) return 'write';
  return restores ? 'note' : 'taken';
}

/**
 * Whether a document's new version differs from the one before only by a value that we wrote back (`external_id`) and by `modified`,
 * which that changed. Such an echo is no change in the source. Both versions are JSON text.
 */
export function isEchoOf(
  { kind, previousRaw, newRaw }: { kind: DocumentKind; previousRaw: string; newRaw: string },
  isWritten: (value: string | null) => boolean,
  dialect: Dialect,
): boolean {
  const previous = parseOrNull(previousRaw);
  const next = parseOrNull(newRaw);
  if (!isJsonObject(previous) || !isJsonObject(next)) return false;
  const { isCarried, value } = externalIdIn(dialect, kind, next);
  if (!isCarried || !isWritten(value)) return false;
  return withoutEcho(kind, previous, dialect) === withoutEcho(kind, next, dialect);
}

function parseOrNull(raw: string): JsonValue {
  try {
    return parseJson(raw);
  } catch {
    return null;
  }
}

function withoutEcho(kind: DocumentKind, record: JsonObject, dialect: Dialect): string {
  const { modified } = dialect.fields[kind];
  const externalId = externalIdField(dialect, kind);
  return canonicalJson(without(without(record, modified.split('.')), externalId.split('.')));
}

function without(record: JsonObject, [key, ...path]: string[]): JsonObject {
  if (key === undefined || !Object.hasOwn(record, key)) return record;
  const { [key]: value, ...rest } = record;
  return path.length > 0 && isJsonObject(value) ? { ...rest, [key]: without(value, path) } : rest;
}
