import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { extentOf } from './limits.ts';

/** The key under which a shrunken record says why it is one; no record of the source has it. */
export const tooLargeKey = 'vetledger:too_large';

/** What a shrunken record keeps: fields such as records have, so that it is still told whose it is. */
const kept = { chars: 1_000, values: 50, depth: 4, members: 200 } as const;
const namesShown = 3;
const nameChars = 40;

/**
 * A record that is too large to be read, without its large fields: `excess` is why. It is stored as any other record, so that
 * its document is held by name and nothing else waits for it.
 */
export function shrink(record: JsonValue, excess: string): JsonObject {
  const members: [string, JsonValue][] = [];
  const dropped: string[] = [];
  for (const key in isJsonObject(record) ? record : {}) {
    if (members.length >= kept.members && dropped.length >= namesShown) break;
    const value = (record as JsonObject)[key];
    const { chars, values, depth } = extentOf(value);
    const fits = key.length + chars <= kept.chars && values <= kept.values && depth <= kept.depth;
    if (fits && members.length < kept.members) members.push([key, value]);
    else if (dropped.length < namesShown) dropped.push(key.slice(0, nameChars));
  }
  const fields = dropped.length === 0 ? '' : `; without ${dropped.join(', ')}`;
  members.push([tooLargeKey, `is too large (${excess})${fields}`]);
  return Object.fromEntries(members);
}

/** Why a record was shrunk, as the end of the sentence "the record …"; null for any other record. */
export function tooLargeOf(record: JsonObject): string | null {
  if (!isJsonObject(record) || !Object.hasOwn(record, tooLargeKey)) return null;
  const said = record[tooLargeKey];
  return typeof said === 'string' ? said : 'is too large';
}
