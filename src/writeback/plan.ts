import type { Dialect } from '../records/dialect.ts';
import { externalIdField, externalIdIn } from '../records/external-id.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, readJson } from '../records/json.ts';
import type { DocumentKind } from '../terms.ts';

export const writeBackStates = ['pending', 'done', 'failed', 'taken', 'absent'] as const;
export type WriteBackState = (typeof writeBackStates)[number];

/** What a document's record is to be told. `former`: what stood there before ours, of a document without entry in force. */
export const writeBackValues = ['entry_id', 'erp_number', 'former'] as const;
export type WriteBackValue = (typeof writeBackValues)[number];

export interface StandingFacts {
  /** `external_id` as it stands in the source. */
  current: string | null;
  /** What is to stand there; null: nothing. */
  value: string | null;
  valueIs: WriteBackValue;
  /** Whether a value is one that we write: an entry id, or a number that was sent for this document. */
  isOurs(value: string): boolean;
  /** It was sent, and no read has shown yet what came of it: what stood there before. Null: nothing was sent. */
  before: readonly (string | null)[] | null;
}

/**
 * `shown`: what is to stand there does, or nothing is to be done. `missing`: it does not; it is to be written, or the source has not
 * stored it. `foreign`: somebody else's value stands there, and stays.
 */
export type Standing = 'shown' | 'missing' | 'foreign';

/**
 * How a document's record stands to what it is to be told, before a request and after it. An entry id takes the place of somebody
 * else's value once, and not of one that came after a request: two programs would overwrite each other for ever. An ERP's number,
 * which changes with each correction, never does. An id of another document of ours was put there by mistake, and gives way.
 */
export function standingOf({ current, value, valueIs, isOurs, before }: StandingFacts): Standing {
  if (current === value) return 'shown';
  if (current === null) return valueIs === 'former' ? 'shown' : 'missing';
  if (isOurs(current)) return 'missing';
  const mayReplace = valueIs === 'entry_id' && (before === null || before.includes(current));
  return mayReplace ? 'missing' : 'foreign';
}

/** Whether a value is the id of an entry of any document of this installation. */
export function isEntryOfOurs(value: string, installation: number): boolean {
  return new RegExp(`^${installation}/(invoice|payment|prepayment)/\\d+/\\d+$`).test(value);
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
    return readJson(raw);
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
