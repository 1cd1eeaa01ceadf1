import type { Dialect } from '../records/dialect.ts';
import { externalIdField, externalIdIn } from '../records/external-id.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, readJson } from '../records/json.ts';
import type { SourceKind } from '../terms.ts';

export const writeBackStates = ['pending', 'done', 'failed', 'taken', 'absent'] as const;
export type WriteBackState = (typeof writeBackStates)[number];

/**
 * The kinds of value that are written to a document's record. `former` restores the earlier value for a document
 * without an entry in force.
 */
export const writeBackValues = ['entry_id', 'erp_number', 'former'] as const;
export type WriteBackValue = (typeof writeBackValues)[number];

export interface StandingFacts {
  /** The present value of `external_id` in the source. */
  current: string | null;
  /** The value that the source should have. Null if it should be empty. */
  value: string | null;
  valueIs: WriteBackValue;
  /** Whether a value was written by vetledger: an entry id, or a number that was sent for this document. */
  isOurs(value: string): boolean;
  /** The values before a request whose result no read has shown yet. Null if nothing was sent. */
  before: readonly (string | null)[] | null;
}

/**
 * What a read shows of a document. `shown`: the source has the intended value, or nothing has to be done. `missing`: it
 * must be written, or the source did not store it. `foreign`: the source has a value of another program, which stays.
 */
export type Standing = 'shown' | 'missing' | 'foreign';

/**
 * Compares the source's value with the intended one, before a request or after it. An entry id may replace a value of
 * another program once, but not one that appeared after a request. Otherwise two programs could overwrite each other
 * without end. An ERP's number changes with each correction, so it never replaces such a value. The id of another
 * document of ours was stored by mistake and is replaced.
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
 * Whether a document's new version differs from the one before only by a value that we wrote back (`external_id`), and
 * by `modified`, which the write-back changed. Such an echo is not a change in the source. Both versions are JSON text.
 */
export function isEchoOf(
  { kind, previousRaw, newRaw }: { kind: SourceKind; previousRaw: string; newRaw: string },
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

function withoutEcho(kind: SourceKind, record: JsonObject, dialect: Dialect): string {
  const { modified } = dialect.fields[kind];
  const externalId = externalIdField(dialect, kind);
  return canonicalJson(without(without(record, modified.split('.')), externalId.split('.')));
}

function without(record: JsonObject, [key, ...path]: string[]): JsonObject {
  if (key === undefined || !Object.hasOwn(record, key)) return record;
  const { [key]: value, ...rest } = record;
  return path.length > 0 && isJsonObject(value) ? { ...rest, [key]: without(value, path) } : rest;
}
