// What a resource declares for each of its endpoints, and what its handler sees of a request.
import type { z } from 'zod';
import type { Application, Permission, Scope } from '../auth.ts';
import type { Clinic } from '../clinic.ts';
import type { Faults } from '../faults.ts';
import type { Quirks } from '../quirks.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Wire } from '../wire.ts';
import type { Answer } from './answer.ts';

type Output<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

/** What is wrong, by field. */
export type Problems = Record<string, string[]>;

export interface ApiRequest<Q = unknown, B = unknown> {
  /** The ids in the path, in order. */
  ids: readonly number[];
  /** The query as validated. */
  query: Q;
  /** The query as sent, for filters and bare flags. */
  search: URLSearchParams;
  /** The body as validated. */
  body: B;
  /** Reads what is inside a body, such as one of many records. */
  read: <S extends z.ZodType>(schema: S, value: unknown) => { value: z.output<S> } | { problems: Problems };
  clinic: Clinic;
  quirks: Quirks;
  wire: Wire;
  /** Who asks. */
  application: Application;
  /** Whether an injected fault of this endpoint strikes now. */
  strikes: (fault: keyof Faults) => boolean;
  /** Number of requests since the start. */
  serial: number;
  /** `http://host:port`, as the client addressed it. */
  origin: string;
  installation: number;
  /** The URL of this request with another page. */
  pageUrl: (page: number) => string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteSpec<
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: Method;
  /** Relative to the API, with `:id` for ids, for example `invoice/:id/full_refund/`. */
  path: string;
  /** The key of limits and statistics, for example `invoice.list`. */
  action: string;
  /** The section of practice-api that specifies it; the tag in the OpenAPI description. */
  section: string;
  summary: string;
  /** What the application's permission group must allow. Absent only with the scope `wholesaler`, which needs no permission. */
  permission?: Permission;
  /** The scope that the token must have. Default: that of the Open API. */
  scope?: Scope;
  query?: Q;
  body?: B;
  /** Whether the body may be a form as well (practice-api: Conventions 3). */
  form?: boolean;
  /** The answers that mean success, by status; null for an empty body. */
  answers: Record<number, z.ZodType | null>;
  handle: (request: ApiRequest<Output<Q>, Output<B>>) => Answer;
}

/** Declares an endpoint; the handler's request has the types of the schemas. */
export const route = <Q extends z.ZodType | undefined = undefined, B extends z.ZodType | undefined = undefined>(
  spec: RouteSpec<Q, B>,
): RouteSpec => spec as unknown as RouteSpec;

/** The parameters of a path, in order. */
export const paramsOf = (path: string): string[] =>
  [...path.matchAll(/:([a-z_]+)/g)].map((match) => match[1] as string);

/** The first id of the path. */
export const pathId = (request: Pick<ApiRequest, 'ids'>): number => {
  const id = request.ids[0];
  if (id === undefined) throw new NotFound();
  return id;
};

/** The instant (epoch milliseconds) of a validated timestamp. Throws ValidationProblem for a time that does not exist. */
export const instant = (request: Pick<ApiRequest, 'clinic'>, text: string, field: string): number => {
  const parsed = request.clinic.zone.parse(text);
  if (parsed === null) throw new ValidationProblem(field, 'Datetime has wrong format.');
  return parsed;
};
