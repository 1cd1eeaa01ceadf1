import type { Dialect, ListKind } from '../records/dialect.ts';
import type { JsonValue } from '../records/json.ts';
import { parseRecord, recordId } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import { keyOfCopy, type Place, type Unusable, unusableOf } from '../records/unusable.ts';
import { recordKinds } from '../terms.ts';

/** A record as the source sent it. */
export interface RawRecord {
  id: number;
  value: JsonValue;
  /** The facts of the record, for records of the synchronised lists (`recordOf`). */
  record?: SourceRecord | undefined;
}

/** A record of a page from which no document can be made, and its position. */
export interface UnusableRecord extends Unusable {
  /** The query of the page, and the record's position on it, from 1. */
  page: string;
  position: number;
  /** The id of the next usable record on the page. Null if there is none. */
  below: number | null;
  place: Place;
}

/**
 * The function that reads the records of a list. For the synchronised lists it returns unusable records; for others it
 * throws.
 */
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
 * Separates the usable and the unusable records of a page, in their order. `page` is the query, and `count` the number
 * of records that match it. The place of an unusable record is the range of the request. A page in order of id that is
 * part of a longer list has a smaller place: between the record's neighbours. The order of a whole list shows nothing,
 * because ids in order of `modified` often ascend, too.
 */
export function sortPage(
  read: readonly (RawRecord | Unusable)[],
  count: number,
  page: string,
  { id__gt, id__lt, ...filters }: Record<string, string>,
): { results: RawRecord[]; unusable: UnusableRecord[] } {
  const results: RawRecord[] = [];
  const unusable: UnusableRecord[] = [];
  const asked: Place = { above: boundOf(id__gt), below: boundOf(id__lt), filters };
  const ids = read.flatMap((record) => ('id' in record ? record.id : []));
  const isWhole = read.length >= count;
  const isById = !isWhole && ids.length > 1 && ids.every((id, at) => at === 0 || id >= (ids[at - 1] ?? 0));
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
