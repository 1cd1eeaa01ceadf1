import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { ConfigError, codeOf } from '../domain/errors.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { type Attestation, isAttestedBy, readAttestation } from '../ledger/export/attest.ts';
import type { BooksHead } from '../ledger/head.ts';

/** What an exported file and its signatures say. */
export interface SealedExport {
  file: string;
  /** Heads of the books that it was made of. */
  heads: BooksHead[];
  /** Why it is not what was exported, or not sealed by this key; null where it is. */
  defect: string | null;
}

/** The seals stand at the end; more installations than fit into so much are in no configuration. */
const endBytes = 262_144;
const csvSeals = '.seal';

/**
 * Checks an export against its own seals: those at its end, or, for a format without comments, those in `FILE.seal` beside it,
 * where the user kept what `export` wrote to stderr.
 */
export async function readSealedExport(file: string, key: Ed25519Key): Promise<SealedExport> {
  const sealed = (await sealsAtEnd(file)) ?? (await sealsBeside(file));
  if (sealed === null) {
    return { file, heads: [], defect: `it carries no seal, and there is none in ${file}${csvSeals}` };
  }
  const { attestations, bytes } = sealed;
  const digest = await digestOf(file, bytes);
  const heads = attestations.map(({ head }) => head);
  return { file, heads, defect: defectOf(attestations, digest, key) };
}

function defectOf(attestations: readonly Attestation[], digest: string, key: Ed25519Key): string | null {
  for (const attestation of attestations) {
    if (attestation.signature === null) return 'it is not signed: no seal_key was configured where it was made';
    if (!isAttestedBy(attestation, key)) return 'its seal is not signed by this key';
    if (attestation.digest !== digest) return 'its content is not what was exported';
  }
  return null;
}

/** Null where the file does not end with seals. */
async function sealsAtEnd(file: string): Promise<{ attestations: Attestation[]; bytes: number } | null> {
  const handle = await open(file).catch((error: unknown) => refuseUnreadable(file, error));
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - endBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    // One character for each byte, so that places in the text are places in the file.
    const end = buffer.subarray(0, bytesRead).toString('latin1');
    const start = /(?:^|\n)(?=; vetledger export )/.exec(end);
    if (start === null) return null;
    const begins = start.index + start[0].length;
    const lines = end.slice(begins).replace(/\n$/, '').split('\n');
    const attestations = lines.map((line) => (line.startsWith('; ') ? readAttestation(line) : null));
    // Something else between or after them: nothing of it was signed.
    if (!attestations.every((each) => each !== null)) return null;
    return { attestations, bytes: from + begins };
  } finally {
    await handle.close();
  }
}

async function sealsBeside(file: string): Promise<{ attestations: Attestation[]; bytes: number } | null> {
  const lines = await readFile(`${file}${csvSeals}`, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    return refuseUnreadable(`${file}${csvSeals}`, error);
  });
  const attestations = lines
    .split('\n')
    .map(readAttestation)
    .filter((each) => each !== null);
  return attestations.length === 0 ? null : { attestations, bytes: Number.POSITIVE_INFINITY };
}

async function digestOf(file: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  if (bytes > 0) for await (const piece of createReadStream(file, { end: bytes - 1 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Throws ConfigError for a file that an option names and that cannot be read. */
export function refuseUnreadable(file: string, error: unknown): never {
  throw new ConfigError({
    code: 'file_unreadable',
    message: `${file} cannot be read (${codeOf(error)}).`,
    todo: 'Name an existing file that you may read.',
  });
}
