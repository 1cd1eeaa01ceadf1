// What a control endpoint declares: what staff, clients and the world outside do, and how the sandbox behaves. They are described in the OpenAPI
// document beside the API, and need no token, because they answer this machine only.
import { z } from 'zod';
import { givenName } from '../../given.ts';
import type { Installation } from '../../installation.ts';

export interface ControlRequest<Q, B> {
  installation: Installation;
  /** The id in the path; 0 where it has none. */
  id: number;
  /** The name in the path; empty where it has none. */
  name: string;
  query: Q;
  body: B;
  /** `http://host:port`, as the client addressed it. */
  origin: string;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface ControlRoute<
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to `/sandbox/`, with `:id` or `:name`. */
  path: string;
  summary: string;
  query?: Q;
  body?: B;
  /** What is answered with 200. Default: an object without fixed fields. */
  answer?: z.ZodType;
  handle: (request: ControlRequest<Output<Q>, Output<B>>) => unknown;
}

/** Declares a control endpoint; the handler's request has the types of the schemas. */
export const control = <Q extends z.ZodType | undefined = undefined, B extends z.ZodType | undefined = undefined>(
  route: ControlRoute<Q, B>,
): ControlRoute => route as unknown as ControlRoute;

export const name = givenName();
export const recordId = z.coerce.number().int().min(0);
/** The answer of what has nothing to say. */
export const done = z.strictObject({});
