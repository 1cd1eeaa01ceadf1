// The declaration of a control endpoint. Control endpoints act for staff, clients and other systems, or set the
// sandbox's behaviour. A separate OpenAPI document describes them. They need no token, because they answer only
// requests from this machine.
import { z } from 'zod';
import { givenName } from '../../given.ts';
import type { Installation } from '../../installation.ts';

export interface ControlRequest<Q, B> {
  installation: Installation;
  /** The id in the path; 0 if the path has none. */
  id: number;
  /** The name in the path; empty if the path has none. */
  name: string;
  query: Q;
  body: B;
  /** `http://host:port`, as in the client's request. */
  origin: string;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface ControlRoute<
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path relative to `/sandbox/`, with `:id` or `:name`. */
  path: string;
  summary: string;
  query?: Q;
  body?: B;
  /** The schema of the answer with status 200. The default is an object with any fields. */
  answer?: z.ZodType;
  handle: (request: ControlRequest<Output<Q>, Output<B>>) => unknown;
}

/** Declares a control endpoint. The schemas give the types of the handler's request. */
export const control = <Q extends z.ZodType | undefined = undefined, B extends z.ZodType | undefined = undefined>(
  route: ControlRoute<Q, B>,
): ControlRoute => route as unknown as ControlRoute;

export const name = givenName();
export const recordId = z.coerce.number().int().min(0);
/** The empty answer of an endpoint without a result. */
export const done = z.strictObject({});
