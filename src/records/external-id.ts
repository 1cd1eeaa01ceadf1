import type { DocumentKind } from '../terms.ts';
import type { Dialect } from './dialect.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import { text } from './values.ts';

/** The path (names joined by dots) of the field that holds the external document id in records of a kind. */
export function externalIdField(dialect: Dialect, kind: DocumentKind): string {
  if (kind === 'prepayment') return dialect.fields.prepayment.external_id;
  return `${dialect.external_info.field}.${dialect.external_info.id_key}`;
}

/** The external document id of a record. */
export interface ExternalId {
  /** Whether the record contains external_info at all. */
  isCarried: boolean;
  /** The external id. Null if the record has none, or an empty one. */
  value: string | null;
}

export function externalIdIn(dialect: Dialect, kind: DocumentKind, record: JsonValue): ExternalId {
  const path = externalIdField(dialect, kind).split('.');
  let value: JsonValue = record;
  for (const [n, key] of path.entries()) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return { isCarried: n > 0, value: null };
    value = value[key];
  }
  return { isCarried: true, value: text.read(value) ?? null };
}
