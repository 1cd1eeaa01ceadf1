import { createHash } from 'node:crypto';

/** A key that encrypts stored secrets. The id is a hash of the key, so it may be stored and shown. */
export interface SecretKey {
  id: string;
  key: Buffer;
}

const keyBytes = 32;

/** Parses 32 bytes in base64. Null for any other text. */
export function secretKeyOf(text: string): SecretKey | null {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return null;
  const key = Buffer.from(text, 'base64');
  if (key.length !== keyBytes) return null;
  return { id: createHash('sha256').update('vetledger secret key\n').update(key).digest('hex').slice(0, 8), key };
}
