import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ConfigError } from '../domain/errors.ts';
import { type Dialect, DialectError, parseDialect } from '../records/dialect.ts';
import { configErrors } from '../texts/errors/config.ts';

const file = new URL('../../mappings/practice-api.yaml', import.meta.url);

/** Merges an installation's overrides into the dialect of `mappings/practice-api.yaml`. Throws DialectError. */
export function loadDialect(overrides: unknown = {}, installation: number | null = null): Dialect {
  return parseDialect(parse(readFileSync(file, 'utf8')), overrides, installation);
}

/** Like `loadDialect`, for the overrides at the key `path` of a configuration file. Throws ConfigError. */
export function loadInstallationDialect(file: string, path: string, overrides: unknown, installation: number): Dialect {
  try {
    return loadDialect(overrides, installation);
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    const { message, todo } = error;
    throw new ConfigError(configErrors.dialectInvalid({ file, key: path, message, todo }));
  }
}
