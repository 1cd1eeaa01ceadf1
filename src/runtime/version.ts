import { readFileSync } from 'node:fs';

let version: string | null = null;

/** The program's version, from package.json. */
export function ownVersion(): string {
  if (version === null) {
    const parsed: { version: string } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    version = parsed.version;
  }
  return version;
}
