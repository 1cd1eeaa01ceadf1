import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SecretKey } from '../../domain/secret-key.ts';

/** Encrypts tokens for the database (AES-256-GCM). The key is never there, so a dump alone is worth nothing. */

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** A sealed text. `keyId` says which key opens it. */
export interface Sealed {
  keyId: string;
  /** Nonce, tag and encrypted text, in base64. */
  content: string;
}

/** A sealed text cannot be opened: no key has its id, or it was changed or moved. */
export class SealError extends Error {
  readonly keyId: string;
  readonly isKeyMissing: boolean;

  constructor(keyId: string, isKeyMissing: boolean) {
    super('sealed text cannot be opened');
    this.keyId = keyId;
    this.isKeyMissing = isKeyMissing;
  }
}

/** Seals a text. It opens only with the same `about`, for instance the company of a token. */
export function seal(text: string, { id: keyId, key }: SecretKey, about: string): Sealed {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(bound(keyId, about));
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return { keyId, content: Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString('base64') };
}

/** Opens a sealed text with the key that sealed it. Throws SealError. */
export function unseal({ keyId, content }: Sealed, keys: readonly SecretKey[], about: string): string {
  const found = keys.find(({ id }) => id === keyId);
  if (found === undefined) throw new SealError(keyId, true);
  const bytes = Buffer.from(content, 'base64');
  try {
    const opening = createDecipheriv(cipher, found.key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(bound(keyId, about))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString('utf8');
  } catch {
    throw new SealError(keyId, false);
  }
}

function bound(keyId: string, about: string): Buffer {
  return Buffer.from(`${keyId}\n${about}`);
}
