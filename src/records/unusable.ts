import { hash } from 'node:crypto';
import { redact } from '../domain/redact.ts';
import { clip, storable } from '../domain/text.ts';
import type { RecordKind } from '../terms.ts';
import type { Dialect } from './dialect.ts';
import { fieldMapOf, keptText, wholeRecord } from './field-map.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from './json.ts';
import { at, usableId } from './schema.ts';
import { isAddress, readAddress } from './tenant.ts';
import { readReference } from './values.ts';

/** Why no document can be made of a record, and what tells it apart from others (ACCOUNTING E6, `put_aside`). */
export interface Unusable {
  code: 'record_unusable' | 'foreign_record';
  /** Ends the sentence "record 7 of the page …: ". Nothing personal, no secret, and not long. */
  why: string;
  /** The invoice of a row or payment, where it can be read. */
  parentId: number | null;
  /**
   * A negative number that stands for it where an id would: no id of the source is negative. The same record has the same one on
   * every page, and two records of other content have different ones.
   */
  key: number;
}

/** Where a record stands of which no id is known: between two ids of its list, and among what filters select. */
export interface Place {
  /** Null: before it stands none that is known. */
  above: number | null;
  below: number | null;
  /** Of the question that showed it, those that are no bounds of ids. */
  filters: Record<string, string>;
}

/** Characters of the record's text that are shown, and of each of its values. */
const longestText = 240;
const longestValue = 40;
const longestAddress = 120;
/** Fields that name people, or hold what people have written. */
const personal: ReadonlySet<string> = new Set([
  ...['name', 'description', 'payer_name', 'payer_organization_name'],
  ...['payer_vat_number', 'payer_register_number', 'external_id'],
]);

/** Null for a record with an id that serves, of this installation and this list. */
export function unusableOf(kind: RecordKind, value: JsonValue, dialect: Dialect): Unusable | null {
  if (!isJsonObject(value)) {
    const key = keyOf(keptText(value, wholeRecord));
    return { code: 'record_unusable', why: `it is no record but ${whatIs(value)}`, parentId: null, key };
  }
  const isForeign = namesAnother(kind, value, dialect);
  if (!isForeign && usableId(kind, value, dialect) !== undefined) return null;
  const key = keyOf(keptText(value, fieldMapOf(dialect, kind)));
  const text = outlineOf(kind, value, dialect);
  if (isForeign) {
    const why = `its url names another installation or another resource (${shown(value.url, longestAddress)}; ${text})`;
    return { code: 'foreign_record', why, parentId: null, key };
  }
  const id = at(value, dialect.fields[kind].id);
  const why = id == null ? 'it has no id' : `its id is ${shown(id)}, which is no positive integer`;
  return { code: 'record_unusable', why: `${why} (${text})`, parentId: parentOf(kind, value, dialect), key };
}

/** The key of the n-th record of a page that looks like others before it on that page. */
export function keyOfCopy(key: number, copies: number): number {
  return copies === 0 ? key : keyOf(`${key} ${copies}`);
}

function keyOf(text: string): number {
  // 48 bits, so that it is exact in every place.
  return -1 - Number.parseInt(hash('sha256', text).slice(0, 12), 16);
}

/** Whether a record's own address is another tenant's; one without an address is taken for ours. */
function namesAnother(kind: RecordKind, { url }: JsonObject, dialect: Dialect): boolean {
  return typeof url === 'string' && isAddress(url) && readAddress(url, dialect, kind) === 'foreign';
}

function parentOf(kind: RecordKind, value: JsonObject, dialect: Dialect): number | null {
  if (kind !== 'row' && kind !== 'payment') return null;
  const found = readReference(at(value, dialect.fields[kind].invoice), dialect, 'invoice');
  return typeof found === 'number' ? found : null;
}

function whatIs(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? 'a truth value' : 'a number';
}

/** The record's own figures and references, without who it is about. */
function outlineOf(kind: RecordKind, value: JsonObject, dialect: Dialect): string {
  const parts: string[] = [];
  for (const [name, field] of Object.entries(dialect.fields[kind])) {
    const found = personal.has(name) || name === 'id' ? null : at(value, field);
    if (found == null || isJsonObject(found) || Array.isArray(found)) continue;
    parts.push(`${field} ${shown(found)}`);
  }
  return storable(clip(parts.join(', '), longestText));
}

function shown(value: JsonValue, longest = longestValue): string {
  return storable(redact(stringifyJson(value), longest));
}
