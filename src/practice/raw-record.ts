import type { Dialect, ListKind } from '../records/dialect.ts';
import type { JsonValue } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import { keyOfCopy, type Place, type Unusable, unusableOf } from '../records/unusable.ts';
import { recordKinds } from '../terms.ts';

/** One record as the source sent it. */
export interface RawRecord {
  id: number;
  value: JsonValue;
  /** Its facts, for records of the synchronised lists (`recordOf`). */
  record?: SourceRecord | undefined;
}

/** A record of a page that no document can be made of, and where it stands. */
export interface UnusableRecord extends Unusable {
  /** The query that was asked, and the record's place on its page, from 1. */
  page: string;
  position: number;
  /** The id of the usable record after it on the page; null: it is the last. */
  below: number | null;
  place: Place;
}

/** The function that reads the records of a list. Of the synchronised lists it gives what is unusable as such; of others it throws. */
export function readerOf(dialect: Dialect, kind: ListKind): (value: JsonValue) => RawRecord | Unusable {
  const synchronised = recordKinds.find((each) => each === kind);
  return (value) => {
    const unusable = synchronised ? unusableOf(synchronised, value, dialect) : null;
    if (unusable) return unusable;
    const record = synchronised && parseRecord(synchronised, value, dialect);
    return { id: record?.id ?? recordId(kind, value, 'id'), value, record };
  };
}

/**
 * The records of a page, and those that are unusable, in their order. `page` is the query that was asked. On a page by id an unusable
 * record stands between its neighbours; on any other one, or where one id cannot tell the order, its place is what was asked.
 */
export function sortPage(
  read: readonly (RawRecord | Unusable)[],
  page: string,
  { id__gt, id__lt, ...filters }: Record<string, string>,
): { results: RawRecord[]; unusable: UnusableRecord[] } {
  const results: RawRecord[] = [];
  const unusable: UnusableRecord[] = [];
  const asked: Place = { above: boundOf(id__gt), below: boundOf(id__lt), filters };
  const ids = read.flatMap((record) => ('id' in record ? record.id : []));
  const isById = ids.length > 1 && ids.every((id, at) => at === 0 || id >= (ids[at - 1] ?? 0));
  const copies = new Map<number, number>();
  for (const [at, record] of read.entries()) {
    if ('id' in record) {
      results.push(record);
      for (const each of unusable) {
        if (each.below !== null) continue;
        each.below = record.id;
        if (isById) each.place.below = record.id;
      }
      continue;
    }
    const before = copies.get(record.key) ?? 0;
    copies.set(record.key, before + 1);
    const above = (isById ? results.at(-1)?.id : null) ?? asked.above;
    const key = keyOfCopy(record.key, before);
    unusable.push({ ...record, key, page, position: at + 1, below: null, place: { ...asked, above } });
  }
  return { results, unusable };
}

function boundOf(id: string | undefined): number | null {
  return id === undefined ? null : Number(id);
}
