import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ConfigError } from '../domain/errors.ts';
import { type Dialect, DialectError, parseDialect } from '../records/dialect.ts';

const file = new URL('../../mappings/practice-api.yaml', import.meta.url);

/** The dialect of `mappings/practice-api.yaml` with an installation's overrides laid over it. Throws DialectError. */
export function loadDialect(overrides: unknown = {}, installation: number | null = null): Dialect {
  return parseDialect(parse(readFileSync(file, 'utf8')), overrides, installation);
}

/** As loadDialect, for the overrides at `path` of a configuration file. Throws ConfigError. */
export function loadInstallationDialect(file: string, path: string, overrides: unknown, installation: number): Dialect {
  try {
    return loadDialect(overrides, installation);
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    throw new ConfigError({ code: 'config_invalid', message: `${file}: ${path}: ${error.message}`, todo: error.todo });
  }
}
