// Requests and answers as routes see them, the matching of paths to routes, and readers of body fields.
import type { Clinic } from './clinic.ts';
import type { Quirks } from './quirks.ts';
import { NotFound, ValidationProblem } from './records.ts';
import type { Wire } from './wire.ts';
import { isDate } from './zone.ts';

export interface ApiRequest {
  /** The ids in the path, in order. */
  ids: number[];
  query: URLSearchParams;
  /** The decoded body; numbers are LosslessNumbers. */
  body: Record<string, unknown>;
  clinic: Clinic;
  quirks: Quirks;
  wire: Wire;
  /** Number of requests since the start. */
  serial: number;
  /** The URL of this request with another page. */
  pageUrl: (page: number) => string;
}

export interface Answer {
  status: number;
  /** Sent as JSON. Absent: an empty body. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the API, with `:id` for ids, for example `invoice/:id/full_refund/`. */
  path: string;
  /** The key of limits and statistics, for example `invoice.list`. */
  action: string;
  handle: (request: ApiRequest) => Answer;
}

/** The routes of a path, one per method, and the ids in the path. Null for an unknown path. */
export const matchPath = (routes: readonly Route[], path: string): { routes: Route[]; ids: number[] } | null => {
  const segments = path.split('/');
  let ids: number[] = [];
  const matching = routes.filter((route) => {
    const pattern = route.path.split('/');
    if (pattern.length !== segments.length) return false;
    const found: number[] = [];
    const fits = pattern.every((part, at) => {
      const segment = segments[at] as string;
      if (part !== ':id') return part === segment;
      found.push(Number(segment));
      return /^\d{1,15}$/.test(segment);
    });
    if (fits) ids = found;
    return fits;
  });
  return matching.length > 0 ? { routes: matching, ids } : null;
};

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

/** A field of the body as text. Throws ValidationProblem if it is absent and has no default. */
export const textField = (body: Record<string, unknown>, name: string, fallback?: string): string => {
  const value = body[name];
  if (isAbsent(value)) {
    if (fallback !== undefined) return fallback;
    throw new ValidationProblem(name, 'This field is required.');
  }
  if (typeof value === 'object' && !isNumeric(value)) throw new ValidationProblem(name, 'Not a valid string.');
  return String(value);
};

/** The id of a field that holds a url-reference or an id. */
export const refField = (body: Record<string, unknown>, name: string): number => refOf(textField(body, name), name);

export const refOf = (text: string, name: string): number => {
  const digits = /(?:^|\/)(\d{1,15})\/?(?:\?.*)?$/.exec(text)?.[1];
  if (digits === undefined) throw new ValidationProblem(name, 'Invalid hyperlink - No URL match.');
  return Number(digits);
};

/** An exact decimal, sent as text or number, with at most `places` decimals. */
export const decimalField = (body: Record<string, unknown>, name: string, places: number): string => {
  const text = textField(body, name);
  if (!/^[+-]?\d{1,15}(\.\d+)?$/.test(text)) throw new ValidationProblem(name, 'A valid number is required.');
  if ((text.split('.')[1] ?? '').replace(/0+$/, '').length > places) {
    throw new ValidationProblem(name, `Ensure that there are no more than ${places} decimal places.`);
  }
  return text;
};

export const booleanField = (body: Record<string, unknown>, name: string, fallback?: boolean): boolean => {
  const value = body[name];
  if (isAbsent(value) && fallback !== undefined) return fallback;
  if (isAbsent(value)) throw new ValidationProblem(name, 'This field is required.');
  if (/^(true|1)$/i.test(String(value))) return true;
  if (/^(false|0)$/i.test(String(value))) return false;
  throw new ValidationProblem(name, 'Must be a valid boolean.');
};

/** A timestamp field as an instant (epoch milliseconds). */
export const timeField = (request: ApiRequest, name: string): number => {
  const instant = request.clinic.zone.parse(textField(request.body, name));
  if (instant === null) throw new ValidationProblem(name, 'Datetime has wrong format.');
  return instant;
};

export const dateField = (body: Record<string, unknown>, name: string): string | null => {
  if (isAbsent(body[name])) return null;
  const text = textField(body, name);
  if (!isDate(text)) throw new ValidationProblem(name, 'Date has wrong format. Use YYYY-MM-DD.');
  return text;
};

/** An object field as plain JSON values. Its decimals become JavaScript numbers, because the clinic does not interpret them. */
export const objectField = (body: Record<string, unknown>, name: string): Record<string, unknown> => {
  const value = body[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isNumeric(value)) {
    throw new ValidationProblem(name, 'Expected a dictionary of items.');
  }
  return JSON.parse(JSON.stringify(value, (_key, member) => (isNumeric(member) ? Number(String(member)) : member)));
};

const isNumeric = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'isLosslessNumber' in value && value.isLosslessNumber === true;

/** The first id of the path. */
export const pathId = (request: ApiRequest): number => {
  const id = request.ids[0];
  if (id === undefined) throw new NotFound();
  return id;
};
