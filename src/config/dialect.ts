import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type Dialect, parseDialect } from '../records/dialect.ts';

const file = new URL('../../mappings/practice-api.yaml', import.meta.url);

/** The dialect of `mappings/practice-api.yaml` with an installation's overrides laid over it. Throws DialectError. */
export function loadDialect(overrides: unknown = {}): Dialect {
  return parseDialect(parse(readFileSync(file, 'utf8')), overrides);
}
