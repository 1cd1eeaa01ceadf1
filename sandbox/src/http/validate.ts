// Validates requests with the schemas of their route, adapted to the installation (forms.ts).
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import type { Quirks } from '../quirks.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Answer } from './answer.ts';
import { isForm } from './body.ts';
import { Forms } from './forms.ts';
import { whatToSend } from './messages.ts';
import type { ApiRequest, Problems, RouteSpec } from './route.ts';

/** The installation whose requests are read. */
interface Reader {
  installation: number;
  clinic: Clinic;
  quirks: Quirks;
}

/** The adapted schemas of each clinic, by the quirks that they depend on. */
const made = new WeakMap<Clinic, Map<string, Forms>>();

export const formsOf = (reader: Reader, isText = false): Forms => {
  const { installation, clinic, quirks } = reader;
  const known = made.get(clinic) ?? new Map<string, Forms>();
  made.set(clinic, known);
  const { bareIds, strict } = quirks;
  const key = JSON.stringify([bareIds, strict, isText]);
  const exists = (resource: string, id: number): boolean => {
    if (resource === 'department') return clinic.departments.has(id);
    // The sandbox has no table of list items, so it accepts every id of a list item.
    return resource === 'listitem' || clinic.tables.get(resource)?.get(id) !== undefined;
  };
  const { zone, decimals } = clinic;
  const forms =
    known.get(key) ??
    new Forms({ ...{ installation, exists, zone, decimals }, bareIds: bareIds && !strict, strict, isText });
  known.set(key, forms);
  return forms;
};

/** The request does not match its schema; `refusalOf` sends the answer. */
export class Invalid extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('invalid');
    this.answer = answer;
  }
}

interface Input {
  query: unknown;
  body: unknown;
  read: ApiRequest['read'];
}

const noFields = z.object({});
const noBody = noFields.nullish();

/** Validates query and body of a request with the schemas of its route. Throws Invalid or ValidationProblem. */
export const inputOf = (request: FastifyRequest, route: RouteSpec, reader: Reader): Input => {
  const forms = formsOf(reader, isForm(request));
  const { ignoredFilters, refusedFilters, strict, urlReferences } = reader.quirks;
  const problemsIn = (where: 'query' | 'body', { issues }: z.ZodError): Problems =>
    fieldsOf(issues, (field, message) =>
      strict ? `${message} (practice-api: ${sectionOf(route, where, field, message)})` : message,
    );
  const read: Input['read'] = (schema, value) => {
    const { data, error } = readWith(forms, schema, value);
    return error ? { problems: problemsIn('body', error) } : { value: data as z.output<typeof schema> };
  };
  const query = Object.fromEntries(
    Object.entries(request.query as Record<string, unknown>).filter(
      // With the quirk `urlReferences: query`, the installation's references contain `format`.
      ([name]) => !ignoredFilters.includes(name) && !(name === 'format' && urlReferences === 'query'),
    ),
  );
  const refused = Object.keys(query).find((name) => refusedFilters.includes(name));
  if (refused !== undefined) throw new ValidationProblem(refused, 'This filter is not supported.');
  if (route.body && request.body === undefined) throw missingBody(forms.of(route.body));
  const asked = readWith(formsOf(reader, true), route.query ?? noFields, query);
  if (asked.error) {
    if (asked.error.issues.some(({ path }) => path[0] === 'page')) throw new Invalid(invalidPage);
    throw new Invalid({ status: 400, body: problemsIn('query', asked.error) });
  }
  if (!route.body && !strict) return { query: asked.data, body: undefined, read };
  const sent = read(route.body ?? noBody, request.body);
  if ('problems' in sent) throw new Invalid({ status: 400, body: sent.problems });
  return { query: asked.data, body: sent.value, read };
};

const invalidPage: Answer = { status: 404, body: { detail: 'Invalid page.' } };

const readWith = <S extends z.ZodType>(forms: Forms, schema: S, value: unknown) =>
  forms.of(schema).safeParse(value, { error: whatToSend });

/** The validator for fastify's built-in validation, which checks the endpoints outside of the API. */
export const validatorOf =
  ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
  (given: unknown) => {
    const { data, error } = schema.safeParse(given, { error: whatToSend });
    if (!error) return { value: data };
    return {
      error: httpPart === 'params' ? new NotFound() : new Invalid({ status: 400, body: fieldsOf(error.issues) }),
    };
  };

/** The refusal of a request without a body. It names the required fields. */
const missingBody = (schema: z.ZodType): ValidationProblem => {
  const fields = schema.safeParse({}).error?.issues.map(({ path }) => String(path[0])) ?? [];
  return new ValidationProblem(fields[0] ?? 'non_field_errors', 'This field is required.', fields);
};

/**
 * Messages by field, `{"<field>": ["message"]}`: the first part of the path is the field. An unknown field is listed by
 * its name.
 */
const fieldsOf = (
  issues: readonly z.core.$ZodIssue[],
  worded: (field: string, message: string) => string = (_field, message) => message,
): Problems => {
  const fields = new Map<string, string[]>();
  for (const issue of issues) {
    const inside = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    for (const key of inside) {
      // A message about a value within a field begins with its path, such as `0.name`.
      const [field = 'non_field_errors', ...rest] = [...issue.path.map(String), ...(key === undefined ? [] : [key])];
      const message = worded(field, rest.length === 0 ? issue.message : `${rest.join('.')}: ${issue.message}`);
      const known = fields.get(field) ?? [];
      if (!known.includes(message)) fields.set(field, [...known, message]);
    }
  }
  return Object.fromEntries(fields);
};

/** The section of the specification that describes the correct value. */
const sectionOf = (route: RouteSpec, where: 'query' | 'body', field: string, message: string): string => {
  if (/hyperlink|URL string/.test(message)) return 'Conventions 2';
  if (where === 'query' && /^page(_size)?$/.test(field)) return 'Conventions 5';
  if (where === 'query' && (field.includes('__') || field === 'filter_type')) return 'Conventions 6';
  if (/^Date/.test(message)) return 'Conventions 4';
  return route.section;
};
