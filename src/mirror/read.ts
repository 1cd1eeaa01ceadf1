import type { Dialect } from '../records/dialect.ts';
import { readJson } from '../records/json.ts';
import { parseRecord, type RecordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';

/** Parses the raw text of a stored record into its facts. */
export function readRecord<Kind extends RecordKind>(kind: Kind, raw: string, dialect: Dialect): RecordOf<Kind> {
  return parseRecord(kind, readJson(raw), dialect);
}
