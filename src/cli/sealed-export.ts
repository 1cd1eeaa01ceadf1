import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { ConfigError, codeOf } from '../domain/errors.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { type Attestation, isAttestedBy, readAttestation } from '../ledger/export/attest.ts';
import type { BooksHead } from '../ledger/head.ts';
import { exportDefects } from '../texts/commands/results.ts';
import { commandErrors } from '../texts/errors/commands.ts';

/** An exported file, checked against its seals. */
export interface SealedExport {
  file: string;
  /** Heads of the books at the time of the export. */
  heads: BooksHead[];
  /** The fault of the file. Null if the file is unchanged and sealed by this key. */
  defect: string | null;
}

/** The seals are in the last bytes of the file. This is enough for any number of installations in practice. */
const endBytes = 262_144;
const csvSeals = '.seal';

/**
 * Checks an export against its seals. They are at the end of the file. For a format without comments, they are in `FILE.seal`, where
 * the user stored what `export` wrote to stderr.
 */
export async function readSealedExport(file: string, key: Ed25519Key): Promise<SealedExport> {
  const sealed = (await sealsAtEnd(file)) ?? (await sealsBeside(file));
  if (sealed === null) {
    return { file, heads: [], defect: exportDefects.noSeal({ file: `${file}${csvSeals}` }) };
  }
  const { attestations, bytes } = sealed;
  const digest = await digestOf(file, bytes);
  const heads = attestations.map(({ head }) => head);
  return { file, heads, defect: defectOf(attestations, digest, key) };
}

function defectOf(attestations: readonly Attestation[], digest: string, key: Ed25519Key): string | null {
  for (const attestation of attestations) {
    if (attestation.signature === null) return exportDefects.unsigned;
    if (!isAttestedBy(attestation, key)) return exportDefects.otherKey;
    if (attestation.digest !== digest) return exportDefects.changed;
  }
  return null;
}

/** Reads the seals at the end of a file. Null if the file does not end with seals. */
async function sealsAtEnd(file: string): Promise<{ attestations: Attestation[]; bytes: number } | null> {
  const handle = await open(file).catch((error: unknown) => refuseUnreadable(file, error));
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - endBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    // latin1 gives one character per byte, so that positions in the text are positions in the file.
    const end = buffer.subarray(0, bytesRead).toString('latin1');
    const start = /(?:^|\n)(?=; vetledger export )/.exec(end);
    if (start === null) return null;
    const begins = start.index + start[0].length;
    const lines = end.slice(begins).replace(/\n$/, '').split('\n');
    const attestations = lines.map((line) => (line.startsWith('; ') ? readAttestation(line) : null));
    // Other text between or after the seals means that the end of the file is not an export's.
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

/** Throws ConfigError for an unreadable file that an option names. */
export function refuseUnreadable(file: string, error: unknown): never {
  throw new ConfigError(commandErrors.fileUnreadable({ file, reason: String(codeOf(error)) }));
}
