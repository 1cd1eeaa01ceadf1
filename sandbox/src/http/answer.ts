// The answer of a handler, and the refusals that every endpoint can give.

export interface Answer {
  status: number;
  /** The JSON of the body; without it, the body is empty. */
  body?: unknown;
  headers?: Record<string, string>;
}

export const unauthorized = (detail: string): Answer => ({
  status: 401,
  body: { detail },
  headers: { 'www-authenticate': 'Bearer realm="api"' },
});

export const forbidden = (detail = 'You do not have permission to perform this action.'): Answer => ({
  status: 403,
  body: { detail },
});

export const methodNotAllowed = (method: string): Answer => ({
  status: 405,
  body: { detail: `Method "${method}" not allowed.` },
});

/** `retryAfter` is the value of the header; null leaves it out. */
export const throttled = (retryAfter: string | null): Answer => ({
  status: 429,
  body: { detail: 'Request was throttled.' },
  headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
});
