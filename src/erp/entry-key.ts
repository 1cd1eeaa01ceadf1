import { createHash } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const keyLength = 20;
const prefixLength = 6;
const bitsPerCharacter = 5;

/**
 * The key of a unit in the ERP's record: 20 characters of base32, short enough for every known field. The first 6
 * characters come from a hash of the database's id, so each key shows which database made it (`keyPrefix`). The other
 * 14 (70 bits) come from a hash of the database's id and the unit's id.
 */
export function entryKey(databaseId: string, unitId: string): string {
  return keyPrefix(databaseId) + base32(`${databaseId}\n${unitId}`, keyLength - prefixLength);
}

/** The first characters of all keys of a database. */
export function keyPrefix(databaseId: string): string {
  return base32(databaseId, prefixLength);
}

/** The first characters of a text's SHA-256 in base32. */
function base32(text: string, length: number): string {
  const hash = createHash('sha256').update(text).digest();
  let bits = 0n;
  for (const byte of hash.subarray(0, 13)) bits = (bits << 8n) | BigInt(byte);
  bits >>= BigInt(13 * 8 - length * bitsPerCharacter);
  let characters = '';
  for (let n = length - 1; n >= 0; n--) characters += alphabet[Number((bits >> BigInt(n * bitsPerCharacter)) & 31n)];
  return characters;
}

/** The key of a company in our tables. */
export function companyKey({ kind, url, id }: { kind: string; url: string; id: string }): string {
  return createHash('sha256').update(`${kind}\n${url}\n${id}`).digest('hex').slice(0, 32);
}
