import type { z } from 'zod';
import { ConfigError } from '../domain/errors.ts';
import { nearest } from '../domain/nearest.ts';
import { type ConfigFile, configKeys, configSchema } from './schema.ts';

/** The configuration as its schema has it. Throws ConfigError for the first fault, naming the key. */
export function checkConfig(file: string, data: unknown): ConfigFile {
  const result = configSchema.safeParse(data ?? {});
  if (result.success) return result.data;
  const { issues } = result.error;
  const [first] = issues;
  // An unknown key first: it is often the reason why a known one is missing.
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) throw unknownKeyError(file, unknown);
  const path = pathText(first?.path ?? []);
  if (!first || path === '')
    throw new ConfigError({
      code: 'config_invalid',
      message: `${file}: is not a table of settings.`,
      todo: 'docs/reference/CLI.md has an example.',
    });
  const missing = valueAt(data, first.path) === undefined;
  throw keyError(file, path, missing ? 'is missing' : first.message);
}

function unknownKeyError(file: string, { path, keys }: z.core.$ZodIssueUnrecognizedKeys): ConfigError {
  const known = knownKeys(path);
  const [key = ''] = keys;
  const hint = nearest(key, known);
  return new ConfigError({
    code: 'config_unknown_key',
    message: `${file}: ${pathText([...path, key])} is not a key of the configuration.`,
    todo: hint ? `Did you mean ${hint}?` : `The keys there are ${known.join(', ')}.`,
  });
}

/** The ConfigError of one key: `message` follows its path. */
export function keyError(file: string, path: string, message: string): ConfigError {
  return new ConfigError({
    code: 'config_invalid',
    message: `${file}: ${path} ${message}.`,
    todo: 'Correct it; docs/reference/CLI.md describes every key.',
  });
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
