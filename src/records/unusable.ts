import { hash } from 'node:crypto';
import { redact } from '../domain/redact.ts';
import { clip, postgresText } from '../domain/text.ts';
import type { RecordKind } from '../terms.ts';
import { jsonTypes, recordTexts } from '../texts/findings/records.ts';
import { isAddress, readAddress } from './addresses.ts';
import type { Dialect } from './dialect.ts';
import { fieldMapOf, keptText, wholeRecord } from './field-map.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from './json.ts';
import { at, usableId } from './schema.ts';
import { readReference } from './values.ts';

/** A record from which no document can be made, and a key that identifies it (ACCOUNTING E6, `put_aside`). */
export interface Unusable {
  code: 'record_unusable' | 'foreign_record';
  /**
   * The reason, as the end of the sentence "record 7 of the page …: ". It is short and contains no personal data and no
   * secret.
   */
  why: string;
  /** The invoice of a row or payment. Null if it cannot be read. */
  parentId: number | null;
  /**
   * A negative number that is used in place of the id; ids of the source are never negative. It is a hash of the
   * content, so the same record has the same key on every page.
   */
  key: number;
}

/**
 * The position of a record without a usable id: the ids of its neighbours in the list, and the filters of the request.
 */
export interface Place {
  /** The id of the record before it. Null if there is none. */
  above: number | null;
  below: number | null;
  /** The filters of the request that returned it, without bounds of ids. */
  filters: Record<string, string>;
}

/** The most characters that are shown of the whole record, of each value, and of an address. */
const longestText = 240;
const longestValue = 40;
const longestAddress = 120;
/** Fields that name people, or that contain free text. */
const personal: ReadonlySet<string> = new Set([
  ...['name', 'description', 'payer_name', 'payer_organization_name'],
  ...['payer_vat_number', 'payer_register_number', 'external_id'],
]);

/**
 * The reason why no document can be made of a record. Null if it has a usable id and belongs to this installation and
 * list.
 */
export function unusableOf(kind: RecordKind, value: JsonValue, dialect: Dialect): Unusable | null {
  if (!isJsonObject(value)) {
    const key = keyOf(keptText(value, wholeRecord));
    return { code: 'record_unusable', why: recordTexts.notARecord({ found: typeOf(value) }), parentId: null, key };
  }
  const isForeign = namesAnother(kind, value, dialect);
  if (!isForeign && usableId(kind, value, dialect) !== undefined) return null;
  const key = keyOf(keptText(value, fieldMapOf(dialect, kind)));
  const text = outlineOf(kind, value, dialect);
  if (isForeign) {
    const why = recordTexts.foreignRecord({ url: shown(value.url, longestAddress), outline: text });
    return { code: 'foreign_record', why, parentId: null, key };
  }
  const id = at(value, dialect.fields[kind].id);
  const why =
    id == null ? recordTexts.withoutId({ outline: text }) : recordTexts.idUnusable({ id: shown(id), outline: text });
  return { code: 'record_unusable', why, parentId: parentOf(kind, value, dialect), key };
}

/** The key of a record that has the same content as `copies` earlier records of its page. */
export function keyOfCopy(key: number, copies: number): number {
  return copies === 0 ? key : keyOf(`${key} ${copies}`);
}

function keyOf(text: string): number {
  // 48 bits fit exactly into a number and into a bigint column.
  return -1 - Number.parseInt(hash('sha256', text).slice(0, 12), 16);
}

/** Whether the record's own address names another installation. A record without an address counts as ours. */
function namesAnother(kind: RecordKind, { url }: JsonObject, dialect: Dialect): boolean {
  return typeof url === 'string' && isAddress(url) && readAddress(url, dialect, kind) === 'foreign';
}

function parentOf(kind: RecordKind, value: JsonObject, dialect: Dialect): number | null {
  if (kind !== 'row' && kind !== 'payment') return null;
  const found = readReference(at(value, dialect.fields[kind].invoice), dialect, 'invoice');
  return typeof found === 'number' ? found : null;
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return jsonTypes.list;
  return typeof value === 'string' ? jsonTypes.text : typeof value === 'boolean' ? jsonTypes.flag : jsonTypes.number;
}

/** The record's amounts and references, without personal data. */
function outlineOf(kind: RecordKind, value: JsonObject, dialect: Dialect): string {
  const parts: string[] = [];
  for (const [name, field] of Object.entries(dialect.fields[kind])) {
    const found = personal.has(name) || name === 'id' ? null : at(value, field);
    if (found == null || isJsonObject(found) || Array.isArray(found)) continue;
    parts.push(`${field} ${shown(found)}`);
  }
  return postgresText(clip(parts.join(', '), longestText));
}

function shown(value: JsonValue, longest = longestValue): string {
  return postgresText(redact(stringifyJson(value), longest));
}
