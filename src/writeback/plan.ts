import type { Dialect } from '../records/dialect.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '../records/json.ts';

/** What was told to the source of a prepayment so far. */
export interface RecordedWriteBack {
  entryId: string;
  state: 'pending' | 'done' | 'failed';
  previousValue: string | null;
}

export interface WriteBackFacts {
  /** `external_id` as the mirror has it. */
  externalId: string | null;
  /** Id of the entry in force. */
  entryId: string;
  recorded: RecordedWriteBack | null;
}

/** `write`: send it; `note`: it stands there already, only our record lacks it; `none`: nothing to do. */
export interface WriteBackPlan {
  action: 'write' | 'note' | 'none';
  /** The foreign value that ours replaces, kept for good; null when there was none. */
  previousValue: string | null;
}

/**
 * What to tell the source of a posted prepayment. What was written once is not written again: a value that somebody else
 * puts there later stays, or two integrations would overwrite each other for ever.
 */
export function planWriteBack({ externalId, entryId, recorded }: WriteBackFacts): WriteBackPlan {
  const kept = recorded?.previousValue ?? null;
  if (recorded?.state === 'done' && recorded.entryId === entryId) return { action: 'none', previousValue: kept };
  if (externalId === entryId) return { action: 'note', previousValue: kept };
  const isForeign = externalId !== null && !isEntryOfSameDocument(externalId, entryId);
  return { action: 'write', previousValue: isForeign ? externalId : kept };
}

/** Whether it is an entry id of ours, of an earlier posting of the same prepayment. */
function isEntryOfSameDocument(value: string, entryId: string): boolean {
  const document = entryId.slice(0, entryId.lastIndexOf('/') + 1);
  return value.startsWith(document) && /^\d+$/.test(value.slice(document.length));
}

/**
 * Whether a prepayment's new version differs from the one before only by what we wrote back (`external_id`) and the
 * `modified` that this moved: an echo, which is no change of the source. Both as JSON text.
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
