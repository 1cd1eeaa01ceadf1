// An answer as handlers give it, and the refusals that hold for every endpoint.

export interface Answer {
  status: number;
  /** Sent as JSON. Absent: an empty body. */
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

/** `retryAfter`: the value of the header; null for none. */
export const throttled = (retryAfter: string | null): Answer => ({
  status: 429,
  body: { detail: 'Request was throttled.' },
  headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
});
