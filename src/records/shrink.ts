import type { Sliced } from '../domain/slices.ts';
import { cutObject } from './cut.ts';
import { isJsonObject, type JsonObject } from './json.ts';

/** The key under which a shrunken record says why it is one; no record of the source has it. */
export const tooLargeKey = 'vetledger:too_large';

/** What a shrunken record keeps: fields such as records have, so that it is still told whose it is. */
const kept = { chars: 1_000, values: 50, depth: 5, members: 200 } as const;
const namesShown = 3;
const nameChars = 40;

/**
 * A record that is too large to be read, without its large fields: `excess` is why. It is stored as any other record, so that
 * its document is held by name and nothing else waits for it.
 */
export function* shrink(text: string, excess: string): Sliced<string> {
  const members: string[] = [];
  const dropped: string[] = [];
  yield* cutObject(text, (member) => {
    const fits =
      member.key.length <= kept.chars &&
      member.chars <= kept.chars &&
      member.values <= kept.values &&
      member.depth <= kept.depth;
    if (fits && members.length < kept.members) members.push(`${member.key}:${member.text}`);
    else if (dropped.length < namesShown) dropped.push(member.key.slice(1, -1).slice(0, nameChars));
  });
  const fields = dropped.length === 0 ? '' : `; without ${dropped.join(', ')}`;
  members.push(`${JSON.stringify(tooLargeKey)}:${JSON.stringify(`is too large (${excess})${fields}`)}`);
  return `{${members.join(',')}}`;
}

/** Why a record was shrunk, as the end of the sentence "the record …"; null for any other record. */
export function tooLargeOf(record: JsonObject): string | null {
  if (!isJsonObject(record) || !Object.hasOwn(record, tooLargeKey)) return null;
  const said = record[tooLargeKey];
  return typeof said === 'string' ? said : 'is too large';
}
