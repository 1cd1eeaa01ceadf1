// Requests are validated with the schemas of their route, in the form that the installation takes (forms.ts).
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import type { Quirks } from '../quirks.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Answer } from './answer.ts';
import { isForm } from './body.ts';
import { Forms } from './forms.ts';
import { whatToSend } from './messages.ts';
import type { RouteSpec } from './route.ts';

/** Whose requests are read. */
interface Reader {
  installation: number;
  clinic: Clinic;
  quirks: Quirks;
}

/** The schemas of each installation, by the quirks that they depend on. */
const made = new WeakMap<Clinic, Map<string, Forms>>();

export const formsOf = (reader: Reader, isText = false): Forms => {
  const { installation, clinic, quirks } = reader;
  const known = made.get(clinic) ?? new Map<string, Forms>();
  made.set(clinic, known);
  const key = JSON.stringify([quirks.bareIds, isText]);
  const exists = (resource: string, id: number): boolean => {
    if (resource === 'department') return clinic.departments.has(id);
    // The clinic's own list items are not kept: every id is one.
    return resource === 'listitem' || clinic.tables.get(resource)?.get(id) !== undefined;
  };
  const forms =
    known.get(key) ??
    new Forms({ installation, exists, zone: clinic.zone, bareIds: quirks.bareIds, strict: false, isText });
  known.set(key, forms);
  return forms;
};

/** What a request does not fit: answered by `refusalOf`. */
export class Invalid extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('invalid');
    this.answer = answer;
  }
}

export interface Input {
  query: unknown;
  body: unknown;
  /** Reads what is inside a body, such as one of many records. */
  read: <S extends z.ZodType>(schema: S, value: unknown) => z.ZodSafeParseResult<z.output<S>>;
}

const readWith = <S extends z.ZodType>(forms: Forms, schema: S, value: unknown) =>
  forms.of(schema).safeParse(value, { error: whatToSend });

/** The query and the body of a request, as its route declares them. Throws Invalid or ValidationProblem. */
export const inputOf = (request: FastifyRequest, route: RouteSpec, reader: Reader): Input => {
  const forms = formsOf(reader, isForm(request));
  const read: Input['read'] = (schema, value) => readWith(forms, schema, value);
  const { ignoredFilters, refusedFilters } = reader.quirks;
  const query = Object.fromEntries(
    Object.entries(request.query as Record<string, unknown>).filter(([name]) => !ignoredFilters.includes(name)),
  );
  const refused = Object.keys(query).find((name) => refusedFilters.includes(name));
  if (refused !== undefined) throw new ValidationProblem(refused, 'This filter is not supported.');
  if (route.body && request.body === undefined) throw missingBody(forms.of(route.body));
  const given = {
    query: readWith(formsOf(reader, true), route.query ?? z.unknown(), query),
    body: read(route.body ?? z.unknown(), request.body),
  };
  if (given.query.error) throw new Invalid(problemsOf(given.query.error, 'query'));
  if (given.body.error) throw new Invalid(problemsOf(given.body.error, 'body'));
  return { query: given.query.data, body: given.body.data, read };
};

/** Validates what fastify validates itself: requests to other endpoints than the API's. */
export const validatorOf =
  ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
  (given: unknown) => {
    const { data, error } = schema.safeParse(given, { error: whatToSend });
    if (!error) return { value: data };
    return { error: httpPart === 'params' ? new NotFound() : new Invalid(problemsOf(error, 'body')) };
  };

/** The refusal of a request without a body: names the fields that are required. */
const missingBody = (schema: z.ZodType): ValidationProblem => {
  const fields = schema.safeParse({}).error?.issues.map(({ path }) => String(path[0])) ?? [];
  return new ValidationProblem(fields[0] ?? 'non_field_errors', 'This field is required.', fields);
};

/** `{"<field>": ["message"]}`; a page that is none is not found. */
const problemsOf = ({ issues }: z.ZodError, where: 'query' | 'body'): Answer => {
  if (where === 'query' && issues.some(({ path }) => path[0] === 'page')) {
    return { status: 404, body: { detail: 'Invalid page.' } };
  }
  return { status: 400, body: fieldsOf(issues) };
};

/** What is wrong, by field. */
export const fieldsOf = (issues: readonly z.core.$ZodIssue[]): Record<string, string[]> => {
  const fields = new Map<string, string[]>();
  for (const issue of issues) {
    const { path, message } = issue;
    // An unknown field is named, not the object that it stands in.
    const unknown = issue.code === 'unrecognized_keys' && path.length === 0 ? issue.keys : [];
    for (const field of unknown.length > 0 ? unknown : [String(path[0] ?? 'non_field_errors')])
      fields.set(field, [...(fields.get(field) ?? []), message]);
  }
  return Object.fromEntries(fields);
};
