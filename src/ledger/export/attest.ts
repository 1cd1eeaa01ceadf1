import { type Ed25519Key, isSignedBy, signatureOf } from '../../domain/signature.ts';
import { type BooksHead, headLine, headOf, headPattern } from '../head.ts';

/** Which books an export contains, and the sha256 of all its text before this line. */
export interface Attestation {
  head: BooksHead;
  digest: string;
  /** The signature of the seal. Null if no key is configured. */
  signature: string | null;
}

const linePattern = new RegExp(
  `(?<text>vetledger export 1 ${headPattern} sha256 (?<digest>[0-9a-f]{64}))(?: signature (?<signature>[A-Za-z0-9+/]{86}==))?`,
);

/** The attestation of an installation as a line of the export, signed if there is a key. */
export function attestationLine(head: BooksHead, digest: string, key: Ed25519Key | null): string {
  const text = attestedText({ head, digest });
  return key === null ? text : `${text} signature ${signatureOf(text, key)}`;
}

function attestedText({ head, digest }: Pick<Attestation, 'head' | 'digest'>): string {
  return `vetledger export 1 ${headLine(head)} sha256 ${digest}`;
}

/** Parses the attestation in a line. Null if there is none. */
export function readAttestation(line: string): Attestation | null {
  const groups = linePattern.exec(line)?.groups;
  if (groups === undefined) return null;
  return { head: headOf(groups), digest: groups.digest ?? '', signature: groups.signature ?? null };
}

/** Whether this key made the signature of the attestation. */
export function isAttestedBy(attestation: Attestation, key: Ed25519Key): boolean {
  return attestation.signature !== null && isSignedBy(attestedText(attestation), attestation.signature, key);
}
