import { hash } from 'node:crypto';
import type { RawKeeping, RecordKind } from '../terms.ts';
import type { Dialect } from './dialect.ts';
import { canonicalJson, isJsonObject, type JsonValue, scalarJson, stringifyJson } from './json.ts';
import { tooLargeKey } from './shrink.ts';
import { replaceUnstorable } from './values.ts';

/**
 * Which parts of a value the mirror keeps. `whole` keeps everything. `field` keeps a plain value. Of a reference that
 * is an object, `field` keeps only id and url, because the object may also contain a person's name. A table keeps the
 * members that it names.
 */
export type Kept = 'whole' | 'field' | { readonly [key: string]: Kept };

/** The parts of a record that the mirror keeps for one kind of record. `version` is a hash of `kept`. */
export interface FieldMap {
  version: string;
  kept: Kept;
  plan: Plan;
}

export function fieldMap(version: string, kept: Kept): FieldMap {
  return { version, kept, plan: planOf(kept) };
}

/** The list of kept fields of the setting `keep_raw: all`. */
export const wholeRecord = fieldMap('all', 'whole');

const mapsOfDialect = new WeakMap<Dialect, Map<RecordKind, FieldMap>>();

/**
 * The fields that are kept for one kind of record. These are the fields that the dialect maps, and all of
 * external_info, which is sent back unchanged. The reason why a record was too large is kept, too.
 */
export function fieldMapOf(dialect: Dialect, kind: RecordKind, keepRaw: RawKeeping = 'mapped'): FieldMap {
  if (keepRaw === 'all') return wholeRecord;
  const maps = mapsOfDialect.get(dialect) ?? new Map<RecordKind, FieldMap>();
  mapsOfDialect.set(dialect, maps);
  const known = maps.get(kind);
  if (known) return known;
  const kept = mappedFields(dialect, kind);
  const map = fieldMap(hash('sha256', JSON.stringify(kept)).slice(0, 16), kept);
  maps.set(kind, map);
  return map;
}

interface Members {
  [key: string]: Kept & (string | Members);
}

function mappedFields(dialect: Dialect, kind: RecordKind): Kept {
  const record: Members = { [tooLargeKey]: 'field' };
  for (const field of Object.values(dialect.fields[kind])) keepPath(record, field.split('.'));
  const { kinds: carriers, field } = dialect.external_info;
  if (kind === 'prepayment' || carriers.some((carrier) => carrier === kind)) record[field] = 'whole';
  return sortedMembers(record);
}

function sortedMembers(members: Members): Members {
  const entries = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, kept]) => [key, typeof kept === 'object' ? sortedMembers(kept) : kept]));
}

/** Keeps the field at a path. If the path leads into a field that is kept already, that field stays kept, too. */
function keepPath(members: Members, [key, ...path]: string[]): void {
  if (key === undefined) return;
  const before = members[key];
  if (path.length === 0 && (before === undefined || before === 'field')) {
    members[key] = 'field';
    return;
  }
  const inner: Members = typeof before === 'object' ? before : {};
  if (before === 'field' || path.length === 0) Object.assign(inner, { id: 'field', url: 'field' });
  members[key] = inner;
  keepPath(inner, path);
}

/**
 * The canonical text of the parts of a record that the mirror keeps. It is stored, compared by its hash, and read for
 * posting. Equal content gives the same text. PostgreSQL refuses NUL and lone surrogates, so the replacement character
 * takes their place.
 */
export function keptText(value: JsonValue, { plan }: FieldMap): string {
  const text = write(value, plan);
  return mayBeUnstorable.test(text) ? write(postgresValue(value), plan) : text;
}

/**
 * NUL and surrogates as JSON.stringify escapes them. It also matches a text that contains such an escape literally,
 * which is harmless.
 */
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/;

/** The kept members in the order in which they are written. Null keeps everything. */
type Plan = Member[] | null;

interface Member {
  key: string;
  start: string;
  plan: Plan;
}

function planOf(kept: Kept): Plan {
  if (kept === 'whole') return null;
  if (kept === 'field') return reference;
  return Object.entries(kept).map(([key, inner]) => memberOf(key, planOf(inner)));
}

function memberOf(key: string, plan: Plan): Member {
  return { key, start: `${JSON.stringify(key)}:`, plan };
}

/** A reference may contain a reference, so the plan contains itself. */
const reference: Member[] = [];
reference.push(memberOf('id', reference), memberOf('url', reference));

function write(value: JsonValue, plan: Plan): string {
  if (typeof value !== 'object' || value === null) return scalarJson(value);
  if (plan === null) return canonicalJson(value);
  if (Array.isArray(value)) return `[${value.map((each) => write(each, plan)).join(',')}]`;
  if (!isJsonObject(value)) return stringifyJson(value);
  let members = '';
  for (const { key, start, plan: inner } of plan) {
    if (!Object.hasOwn(value, key)) continue;
    members += (members === '' ? start : `,${start}`) + write(value[key], inner);
  }
  return `{${members}}`;
}

function postgresValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return replaceUnstorable(value);
  if (Array.isArray(value)) return value.map(postgresValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [replaceUnstorable(key), postgresValue(inner)]),
  );
}
