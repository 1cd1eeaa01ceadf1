import type { Dialect, ListKind } from '../records/dialect.ts';
import { type JsonValue, parseJson, stringifyJson } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import { recordKinds } from '../terms.ts';

/** One record as the source sent it. */
export interface RawRecord {
  id: number;
  /** Its JSON text, the wire's digits kept. */
  raw: string;
  /** Of a list's answer parsed anew each time. */
  readonly value: JsonValue;
  /** Its facts, where it is of one of the synchronised lists (`recordOf`). */
  record?: SourceRecord | undefined;
}

/** How the records of a list are read. */
export function readerOf(dialect: Dialect, kind: ListKind): (raw: string, value: JsonValue) => RawRecord {
  const synchronised = recordKinds.find((each) => each === kind);
  const idField = synchronised ? dialect.fields[synchronised].id : 'id';
  return (raw, value) => ({
    id: recordId(kind, value, idField),
    raw,
    get value() {
      return parseJson(raw);
    },
    record: synchronised && parseRecord(synchronised, value, dialect),
  });
}

export function rawRecord(kind: string, value: JsonValue, idField: string): RawRecord {
  return { id: recordId(kind, value, idField), raw: stringifyJson(value), value };
}
