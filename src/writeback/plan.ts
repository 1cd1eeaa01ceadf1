import type { Dialect } from '../records/dialect.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '../records/json.ts';

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
 * What to tell the source of a posted prepayment. An entry id is written once: a value that somebody else writes there later
 * stays, because two integrations would otherwise overwrite each other for ever. So does a value that came while it was in doubt
 * whether ours was written.
 */
export function planWriteBack({ externalId, entryId, recorded }: WriteBackFacts): WriteBackPlan {
  const kept = recorded?.previousValue ?? null;
  if (recorded?.state === 'done' && recorded.entryId === entryId) return { action: 'none', previousValue: kept };
  if (externalId === entryId) return { action: 'note', previousValue: kept };
  const doubt = recorded?.entryId === entryId ? recorded.doubt : null;
  if (doubt && externalId !== doubt.valueBefore) return { action: 'note', previousValue: kept };
  const isForeign = externalId !== null && !isEntryOfSameDocument(externalId, entryId);
  return { action: 'write', previousValue: isForeign ? externalId : kept };
}

/** Whether a value is the id of an earlier entry of the same prepayment. */
function isEntryOfSameDocument(value: string, entryId: string): boolean {
  const document = entryId.slice(0, entryId.lastIndexOf('/') + 1);
  return value.startsWith(document) && /^\d+$/.test(value.slice(document.length));
}

/**
 * Whether a prepayment's new version differs from the one before only by the entry id that we wrote back (`external_id`) and
 * by `modified`, which that changed. Such an echo is no change in the source. Both versions are JSON text.
 */
export function isOwnEcho(previousRaw: string, newRaw: string, writtenEntryId: string, dialect: Dialect): boolean {
  const { external_id: externalId } = dialect.fields.prepayment;
  const previous = parseOrNull(previousRaw);
  const next = parseOrNull(newRaw);
  if (!isJsonObject(previous) || !isJsonObject(next)) return false;
  if (at(next, externalId) !== writtenEntryId) return false;
  return withoutEcho(previous, dialect) === withoutEcho(next, dialect);
}

function parseOrNull(raw: string): JsonValue {
  try {
    return parseJson(raw);
  } catch {
    return null;
  }
}

function withoutEcho(record: JsonObject, dialect: Dialect): string {
  const { modified, external_id: externalId } = dialect.fields.prepayment;
  return canonicalJson(without(without(record, modified.split('.')), externalId.split('.')));
}

function without(record: JsonObject, [key, ...path]: string[]): JsonObject {
  if (key === undefined || !Object.hasOwn(record, key)) return record;
  const { [key]: value, ...rest } = record;
  return path.length > 0 && isJsonObject(value) ? { ...rest, [key]: without(value, path) } : rest;
}

function at(record: JsonObject, field: string): JsonValue {
  let value: JsonValue = record;
  for (const key of field.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
