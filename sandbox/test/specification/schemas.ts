// The JSON Schemas of the served OpenAPI description, for bodies and answers. Types are tested with values that a
// schema accepts or refuses, so that its spelling does not matter.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Field, Kind, Type } from './field.ts';

export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  maxItems?: number;
  [keyword: string]: unknown;
}

interface Content {
  required?: boolean;
  content?: { 'application/json'?: { schema: Schema } };
  headers?: Record<string, unknown>;
}

export interface Operation {
  parameters?: { in: string; name: string; schema: Schema; required?: boolean }[];
  requestBody?: Content;
  responses: Record<string, Content>;
  security?: Record<string, string[]>[];
  description?: string;
}

/** The operations of a description by `METHOD /path/`, with `{id}` for every id and resolved references. */
export type Operations = Map<string, Operation>;

export const operationsOf = (description: object): Operations => {
  const { paths, components } = description as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, unknown> };
  };
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    const name = /^#\/components\/schemas\/(.+)$/.exec(String((value as { $ref?: string }).$ref ?? ''))?.[1];
    if (name !== undefined) return resolved(components.schemas[decodeURIComponent(name)]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]));
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path.replace(/\{[a-z_]+\}/g, '{id}')}`,
        resolved(operation) as Operation,
      ]),
    ),
  );
};

export const variants = (schema: Schema): Schema[] => schema.anyOf?.flatMap(variants) ?? [schema];
const objectOf = (schema: Schema): Schema | undefined =>
  variants(schema)
    .flatMap((one) => (one.type === 'array' && one.items ? variants(one.items) : [one]))
    .find((one) => one.properties !== undefined);

/** The object at a path of names inside a schema. Arrays are replaced by their elements. */
export const objectAt = (schema: Schema | undefined, path: readonly string[] = []): Schema | undefined => {
  const found = schema && objectOf(schema);
  const [name, ...rest] = path;
  return name === undefined || !found ? found : objectAt(found.properties?.[name], rest);
};

export const bodyOf = (operation: Operation | undefined): Schema | undefined =>
  operation?.requestBody?.content?.['application/json']?.schema;

/** The successful statuses of an operation. */
export const successes = (operation: Operation): string[] =>
  Object.keys(operation.responses).filter((status) => status.startsWith('2'));

/** The schemas of an operation's successful answers. */
export const answersOf = (operation: Operation | undefined): Schema[] =>
  operation === undefined
    ? []
    : successes(operation).flatMap((status) => {
        const schema = operation.responses[status]?.content?.['application/json']?.schema;
        return schema ? [schema] : [];
      });

/** The records of a list's answer; for another answer, the answer. */
export const recordsOf = (schema: Schema): Schema => objectOf(schema)?.properties?.results?.items ?? schema;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const compiled = new WeakMap<Schema, ValidateFunction>();

export const accepts = (schema: Schema, value: unknown): boolean => {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate(value) as boolean;
};

/** The values that a schema lists. */
export const listed = (schema: Schema): unknown[] =>
  variants(schema).flatMap((one) => [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])]);

const api = 'https://practice.example/4711/api/0.1';
const resources = [
  ...['client', 'patient', 'consultation', 'department', 'user', 'item', 'invoice', 'invoicerow', 'invoicepayment'],
  ...['unallocatedpayment', 'consultationitem', 'appointment', 'onlinebookingclient', 'reason', 'listitem'],
  ...['eprescription/prescription', 'eprescription/prescription_item', 'postransaction'],
];

/** Sample values: for each type, values that every body accepts (Conventions 4), and values of another type. */
const samples: Record<
  Exclude<Kind, 'array' | 'object'>,
  { right: unknown[]; written?: unknown[]; wrong: unknown[] }
> = {
  integer: { right: [7, 42, 2001], wrong: ['word', 1.5, true] },
  number: { right: [7], wrong: ['word', true] },
  string: {
    right: [
      'word',
      'A sentence of words.',
      'FI',
      'a@example.org',
      '+358401234567',
      'https://example.org/x',
      'file.csv',
    ],
    wrong: [7, true],
  },
  uuid: { right: ['5f0c7a34-6c0c-4f0e-9a53-8d5a8a1f6b11'], wrong: ['word', 7, true] },
  boolean: { right: [true], written: [true, false], wrong: ['word', 7] },
  timestamp: {
    right: ['2026-05-20T10:00:00.000000Z', '2026-05-20T10:00:00.000000+03:00'],
    written: ['2026-05-20T10:00:00Z', '2026-05-20T10:00:00+03:00', '2026-05-20T10:00:00'],
    wrong: ['word', 7, true, '12.50'],
  },
  date: { right: ['2026-05-20'], wrong: ['word', 7, true, '12.50', '20.5.2026'] },
  decimal: { right: ['12.50', 12.5], written: ['12.50', 12.5], wrong: ['word', true] },
  reference: { right: resources.map((name) => `${api}/${name}/7/`), wrong: ['word', true, '12.50'] },
};

/** True if a value has a type. */
export const fits = (kind: Kind, value: unknown): boolean => {
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (kind === 'integer') return Number.isInteger(value);
  if (kind === 'number' || kind === 'boolean') return typeof value === kind;
  if (typeof value !== 'string') return kind === 'decimal' && typeof value === 'number';
  if (kind === 'uuid') return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
  if (kind === 'decimal') return /^-?\d+(?:\.\d+)?$/.test(value);
  if (kind === 'date') return /^\d{4}-\d{2}-\d{2}$/.test(value);
  if (kind === 'timestamp') return /^\d{4}-\d{2}-\d{2}T/.test(value);
  return kind === 'reference' ? value.startsWith('http') : true;
};

/** Describes each difference between a schema and a type. */
export const typeProblems = (schema: Schema, type: Type, direction: 'written' | 'answered'): string[] => {
  const problems: string[] = [];
  const scalars = type.kinds.filter((kind) => kind !== 'array' && kind !== 'object');
  const known = listed(schema);
  const absent = scalars.filter((kind) => {
    const { right } = samples[kind];
    const tried =
      type.literal === undefined ? [...right, ...known.filter((value) => fits(kind, value))] : [type.literal];
    return !tried.some((value) => accepts(schema, value));
  });
  // If there are several types, a body accepts all of them and an answer has one of them.
  if (direction === 'written' || absent.length === scalars.length) {
    problems.push(...absent.map((kind) => `takes no ${type.literal ?? kind}`));
  }
  if (direction === 'written') {
    const all = scalars.flatMap((kind) => samples[kind].written ?? []);
    problems.push(...all.filter((value) => !accepts(schema, value)).map((value) => `does not take ${value}`));
  }
  if (scalars.length > 0 && type.literal === undefined) {
    const wrong = scalars
      .flatMap((kind) => samples[kind].wrong)
      .filter((value) => !scalars.some((kind) => fits(kind, value)));
    for (const value of new Set(wrong)) {
      if (accepts(schema, value)) problems.push(`takes ${JSON.stringify(value)}, which is no ${scalars.join(' or ')}`);
    }
    // Answers have a url-reference as an address, never as an id.
    if (
      direction === 'answered' &&
      scalars.includes('reference') &&
      !scalars.includes('integer') &&
      accepts(schema, 7)
    ) {
      problems.push('answers an id in place of a url-reference');
    }
  }
  if (type.kinds.includes('array')) {
    const array = variants(schema).find((one) => one.type === 'array');
    if (!array) problems.push('takes no array');
    else if (type.element) {
      if (!array.items) problems.push('has elements of any type');
      else problems.push(...typeProblems(array.items, type.element, direction).map((one) => `each element ${one}`));
    }
    if (accepts(schema, 'word')) problems.push('takes "word", which is no array');
  } else if (scalars.length > 0 && accepts(schema, ['word'])) problems.push('takes an array');
  if (type.kinds.includes('object')) {
    if (!variants(schema).some((one) => one.type === 'object')) problems.push('takes no object');
    if (accepts(schema, 'word')) problems.push('takes "word", which is no object');
    problems.push(...(type.fields ?? []).flatMap((field) => memberProblems(schema, field, direction)));
  }
  return problems;
};

const memberProblems = (schema: Schema, field: Field, direction: 'written' | 'answered'): string[] => {
  const { name, required, sometimes = false } = field;
  const object = objectAt(schema);
  const member = object?.properties?.[name];
  if (!object || !member) return [`has no ${name}`];
  const problems = valueProblems(member, field, direction);
  const isRequired = object.required?.includes(name) === true;
  const type = field[direction];
  if (direction === 'answered' && isRequired === sometimes)
    problems.push(sometimes ? 'is always there' : 'may be absent');
  if (direction === 'answered' && type && type.nullable !== accepts(member, null)) {
    problems.push(type.nullable ? 'may not be null' : 'may be null');
  }
  if (direction === 'written' && required !== undefined && required !== isRequired) {
    problems.push(required ? 'is optional' : 'is required');
  }
  return problems.map((one) => `${name} ${one}`);
};

/** Describes each difference between the schema of a field and its values in the specification. */
export const valueProblems = (schema: Schema, field: Field, direction: 'written' | 'answered'): string[] => {
  const type = field[direction];
  const problems = type ? typeProblems(schema, type, direction) : [];
  const { values, valueNames, minLength, maxLength } = field;
  if (values && typeof values[0] === 'number') {
    const numbers = [...Array(301).keys(), ...listed(schema).filter(Number.isInteger)] as number[];
    const taken = [...new Set(numbers.filter((value) => accepts(schema, value)))].sort((a, b) => a - b);
    const wanted = (values as number[]).toSorted((a, b) => a - b);
    if (String(taken) !== String(wanted)) problems.push(`has the values ${taken.slice(0, 30)}, not ${wanted}`);
    if (direction === 'written' && type?.kinds.includes('string')) {
      for (const name of valueNames ?? []) if (!accepts(schema, name)) problems.push(`does not take the name ${name}`);
    }
  } else if (values) {
    const taken = listed(schema).filter((value) => value !== null);
    if (String(taken.toSorted()) !== String(values.toSorted())) problems.push(`has the values ${taken}, not ${values}`);
  }
  if (direction === 'answered') {
    const { appears } = field;
    return appears === undefined || accepts(schema, appears) ? problems : [...problems, `does not have ${appears}`];
  }
  for (const value of field.refused ?? []) if (accepts(schema, value)) problems.push(`takes the value ${value}`);
  for (const value of field.accepted ?? []) if (!accepts(schema, value)) problems.push(`does not take ${value}`);
  for (const value of field.rejected ?? []) if (accepts(schema, value)) problems.push(`takes ${value}`);
  const text = (length: number) => 'a'.repeat(length);
  if (maxLength !== undefined && (!accepts(schema, text(maxLength)) || accepts(schema, text(maxLength + 1)))) {
    problems.push(`has another greatest length than ${maxLength}`);
  }
  if (minLength !== undefined && (!accepts(schema, text(minLength)) || accepts(schema, text(minLength - 1)))) {
    problems.push(`has another least length than ${minLength}`);
  }
  if (field.hasNoDefault && schema.default !== undefined) problems.push(`has the default ${schema.default}`);
  if (field.default !== undefined && schema.default !== field.default) {
    problems.push(`has the default ${schema.default}, not ${field.default}`);
  }
  return problems;
};
