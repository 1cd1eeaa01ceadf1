import { createHash } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const keyLength = 20;
const bitsPerCharacter = 5;

/**
 * The key of a unit in an ERP's record: 20 characters of base32 of a hash of the database's id and the unit's id, 100 bits. It is
 * short enough for every field known, and differs between databases that post into one company.
 */
export function entryKey(databaseId: string, unitId: string): string {
  const hash = createHash('sha256').update(`${databaseId}\n${unitId}`).digest();
  let bits = 0n;
  for (const byte of hash.subarray(0, 13)) bits = (bits << 8n) | BigInt(byte);
  bits >>= BigInt(13 * 8 - keyLength * bitsPerCharacter);
  let key = '';
  for (let n = keyLength - 1; n >= 0; n--) key += alphabet[Number((bits >> BigInt(n * bitsPerCharacter)) & 31n)];
  return key;
}

/** Identifies a company in our tables. */
export function companyKey({ kind, url, id }: { kind: string; url: string; id: string }): string {
  return createHash('sha256').update(`${kind}\n${url}\n${id}`).digest('hex').slice(0, 32);
}
