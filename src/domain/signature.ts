import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** A private or a public Ed25519 key. */
export type Ed25519Key = KeyObject;

/** Parses an Ed25519 private key in PEM. Null for any other text. `\n` as two characters counts as a line end. */
export function privateKeyOf(pem: string): Ed25519Key | null {
  return ed25519(() => createPrivateKey(pem.replaceAll('\\n', '\n')));
}

/** Parses an Ed25519 public key in PEM. Null for any other text, including a private key. */
export function publicKeyOf(pem: string): Ed25519Key | null {
  // Node would derive the public key from a private key, which must not be published by mistake.
  return pem.includes('PRIVATE KEY') ? null : ed25519(() => createPublicKey(pem));
}

function ed25519(read: () => KeyObject): Ed25519Key | null {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

/** The signature of a text, in base64. */
export function signatureOf(text: string, key: Ed25519Key): string {
  return sign(null, Buffer.from(text), key).toString('base64');
}

export function isSignedBy(text: string, signature: string, key: Ed25519Key): boolean {
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}
