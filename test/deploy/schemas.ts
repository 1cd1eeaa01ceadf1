import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

export const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

type Schema = Record<string, unknown>;

const schemaOf = (name: string): Schema =>
  JSON.parse(gunzipSync(readFileSync(new URL(`./schemas/${name}.json.gz`, import.meta.url))).toString());

const settings = { strict: false, allErrors: true, validateFormats: false } as const;

/** Errors of a compose file by the schema of the Compose Specification. */
export function composeFaults(document: unknown): string[] {
  const schema = schemaOf('compose-spec-2.16.2');
  const ajv = String(schema.$schema).includes('2020-12') ? new Ajv2020(settings) : new Ajv(settings);
  return faults(ajv, schema, document);
}

/** Errors of a manifest by the schema of its kind. */
export function manifestFaults(document: { apiVersion?: string; kind?: string }): string[] {
  const { kinds, $defs } = schemaOf('kubernetes-1.37') as { kinds: Record<string, Schema>; $defs: Schema };
  const kind = `${document.apiVersion}/${document.kind}`;
  const schema = kinds[kind];
  if (!schema) return [`no schema of ${kind}; add it to test/deploy/schemas`];
  return faults(new Ajv2020(settings), { ...schema, $defs }, document);
}

function faults(ajv: Ajv, schema: Schema, document: unknown): string[] {
  if (ajv.validate(schema, document)) return [];
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}
