import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyError } from './check-config.ts';
import { type MeasuredFile, measuredFile } from './measured.ts';

/** Reads the file that the key `measured` names. Throws ConfigError if it is missing, or of another ERP. */
export function readMeasured(
  file: string,
  key: string,
  { kind, measured }: { kind: string; measured: string },
): MeasuredFile {
  const path = resolve(dirname(file), measured);
  try {
    const read = measuredFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    if (read.erp === kind) return read;
  } catch {
    // The message below covers a missing file and a wrong one.
  }
  throw keyError(file, `${key}.measured`, `must name a file that \`vetledger erp probe\` wrote for ${kind}`);
}
