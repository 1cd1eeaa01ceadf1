import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Half of an Ed25519 key pair. */
export type Ed25519Key = KeyObject;

/** An Ed25519 private key, PEM; null where the text is something else. `\n` written as two characters is a line end. */
export function privateKeyOf(pem: string): Ed25519Key | null {
  return ed25519(() => createPrivateKey(pem.replaceAll('\\n', '\n')));
}

/** An Ed25519 public key, PEM; null where the text is something else, a private key included. */
export function publicKeyOf(pem: string): Ed25519Key | null {
  // Node would derive the public half of a private key, which nobody should hand out as a public one.
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
