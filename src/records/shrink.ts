import { recordTexts } from '../texts/findings/records.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { extentOf } from './limits.ts';

/** The key under which a reduced record stores why it was too large. No record of the source has this key. */
export const tooLargeKey = 'vetledger:too_large';

/** The largest fields that a reduced record keeps. Ordinary fields, such as the id and references, are smaller. */
const kept = { chars: 1_000, values: 50, depth: 4, members: 200 } as const;
const namesShown = 3;
const nameChars = 40;

/**
 * Removes the large fields of a record that is too large to be read; `excess` is the reason. The result is stored like
 * any other record, so that only its own document is held.
 */
export function shrink(record: JsonValue, excess: string): JsonObject {
  const members: [string, JsonValue][] = [];
  const removed: string[] = [];
  for (const key in isJsonObject(record) ? record : {}) {
    if (members.length >= kept.members && removed.length >= namesShown) break;
    const value = (record as JsonObject)[key];
    const { chars, values, depth } = extentOf(value);
    const fits = key.length + chars <= kept.chars && values <= kept.values && depth <= kept.depth;
    if (fits && members.length < kept.members) members.push([key, value]);
    else if (removed.length < namesShown) removed.push(key.slice(0, nameChars));
  }
  members.push([tooLargeKey, recordTexts.tooLarge({ reason: excess, removed: removed.join(', ') })]);
  return Object.fromEntries(members);
}

/** The reason why a record was reduced, as the end of the sentence "the record …". Null for any other record. */
export function tooLargeOf(record: JsonObject): string | null {
  if (!isJsonObject(record) || !Object.hasOwn(record, tooLargeKey)) return null;
  const reason = record[tooLargeKey];
  return typeof reason === 'string' ? reason : recordTexts.tooLargeUnexplained;
}
