import type { Dialect, ListKind } from '../records/dialect.ts';
import { type JsonValue, parseJson, storableJson, stringifyJson } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import { recordKinds } from '../terms.ts';

/** One record as the source sent it. */
export interface RawRecord {
  id: number;
  /** Its JSON text, with the digits as sent. */
  raw: string;
  /** Records of a list parse their text at each access, to save memory. */
  readonly value: JsonValue;
  /** Its facts, for records of the synchronised lists (`recordOf`). */
  record?: SourceRecord | undefined;
}

/** The function that reads the records of a list. */
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

/** A record from a parsed value. Throws PracticeError `malformed_record`. */
export function rawRecord(kind: string, value: JsonValue, idField: string): RawRecord {
  return { id: recordId(kind, value, idField), raw: storableJson(stringifyJson(value)), value };
}
