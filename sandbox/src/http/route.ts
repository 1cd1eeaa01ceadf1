// The declaration of an endpoint, and the request that its handler gets.
import type { z } from 'zod';
import type { Application, Permission, Scope } from '../auth.ts';
import type { Clinic } from '../clinic.ts';
import type { Faults } from '../faults.ts';
import type { Quirks } from '../quirks.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Wire } from '../wire.ts';
import type { Answer } from './answer.ts';

type Output<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

/** Messages about wrong values, by field. */
export type Problems = Record<string, string[]>;

export interface ApiRequest<Q = unknown, B = unknown> {
  /** The ids in the path, in order. */
  ids: readonly number[];
  /** The validated query. */
  query: Q;
  /** The query as sent, for filters and flags. */
  search: URLSearchParams;
  /** The validated body. */
  body: B;
  /** Validates a part of a body, such as one of many records. */
  read: <S extends z.ZodType>(schema: S, value: unknown) => { value: z.output<S> } | { problems: Problems };
  clinic: Clinic;
  quirks: Quirks;
  wire: Wire;
  /** The application that sent the request. */
  application: Application;
  /** Returns whether an injected fault of this endpoint strikes now. */
  strikes: (fault: keyof Faults) => boolean;
  /** The number of requests since the start. */
  serial: number;
  /** `http://host:port`, as in the client's request. */
  origin: string;
  installation: number;
  /** The URL of this request with another page number. */
  pageUrl: (page: number) => string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteSpec<
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: Method;
  /** The path relative to the API, with `:id` for ids, for example `invoice/:id/full_refund/`. */
  path: string;
  /** The key of limits and statistics, for example `invoice.list`. */
  action: string;
  /** The section of practice-api that specifies the endpoint; it is the tag in the OpenAPI description. */
  section: string;
  summary: string;
  /** The permission that the application needs. Only endpoints with the scope `wholesaler` have none. */
  permission?: Permission;
  /** The scope that the token needs; the default is the scope of the Open API. */
  scope?: Scope;
  query?: Q;
  body?: B;
  /** True if the body may also be a form (practice-api: Conventions 3). */
  form?: boolean;
  /** The schemas of successful answers, by status; null for an empty body. */
  answers: Record<number, z.ZodType | null>;
  handle: (request: ApiRequest<Output<Q>, Output<B>>) => Answer;
}

/** Declares an endpoint. The schemas give the types of the handler's request. */
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

/**
 * The instant (epoch milliseconds) of a validated timestamp. Throws ValidationProblem for a time that does not exist.
 */
export const instant = (request: Pick<ApiRequest, 'clinic'>, text: string, field: string): number => {
  const parsed = request.clinic.zone.parse(text);
  if (parsed === null) throw new ValidationProblem(field, 'Datetime has wrong format.');
  return parsed;
};
