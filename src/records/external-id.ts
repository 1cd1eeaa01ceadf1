import type { DocumentKind } from '../terms.ts';
import type { Dialect } from './dialect.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import { text } from './values.ts';

/** The name, with dots, of the field that holds the external document id in records of a kind. */
export function externalIdField(dialect: Dialect, kind: DocumentKind): string {
  if (kind === 'prepayment') return dialect.fields.prepayment.external_id;
  return `${dialect.external_info.field}.${dialect.external_info.id_key}`;
}

/** What a record's answer tells of its external document id. */
export interface ExternalId {
  /** Whether the record carries external_info at all. */
  isCarried: boolean;
  /** Null where there is none, or an empty one. */
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
