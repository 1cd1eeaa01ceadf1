import type { z } from 'zod';
import { ConfigError } from '../domain/errors.ts';
import { nearest } from '../domain/nearest.ts';
import { configErrors } from '../texts/errors/config.ts';
import { type ConfigFile, configKeys, configSchema } from './schema.ts';

/** Checks the configuration against its schema. Throws a ConfigError that names the key of the first fault. */
export function checkConfig(file: string, data: unknown): ConfigFile {
  const result = configSchema.safeParse(data ?? {});
  if (result.success) return result.data;
  const { issues } = result.error;
  const [first] = issues;
  // An unknown key is reported first, because a misspelled key often causes a second error: the right key is missing.
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) throw unknownKeyError(file, unknown);
  const path = pathText(first?.path ?? []);
  if (!first || path === '') throw new ConfigError(configErrors.notATable({ file }));
  const missing = valueAt(data, first.path) === undefined;
  throw keyError(file, path, missing ? 'is missing' : first.message);
}

function unknownKeyError(file: string, { path, keys }: z.core.$ZodIssueUnrecognizedKeys): ConfigError {
  const known = knownKeys(path);
  const [key = ''] = keys;
  return new ConfigError(
    configErrors.unknownKey({
      file,
      key: pathText([...path, key]),
      nearest: nearest(key, known) ?? null,
      known: known.join(', '),
    }),
  );
}

/** The ConfigError of one key. `fault` follows the path of the key in the message. */
export function keyError(file: string, key: string, fault: string): ConfigError {
  return new ConfigError(configErrors.keyInvalid({ file, key, fault }));
}

function pathText(path: PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function valueAt(data: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value[key] : undefined), data);
}

function knownKeys(path: PropertyKey[]): string[] {
  let schema = configKeys();
  for (const part of path) schema = (typeof part === 'number' ? schema.items : schema.properties?.[String(part)]) ?? {};
  return Object.keys(schema.properties ?? {});
}

function isTable(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
