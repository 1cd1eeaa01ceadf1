import { redact } from './redact.ts';

/** By what a request is found in our log, and in that of the server. */
export interface RequestIds {
  /** Ours: the same for all attempts of a request. */
  request: string;
  /** The server's, where its answer named one. */
  server_request?: string;
}

/** Headers in which servers and the proxies before them name a request. */
const names = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-amzn-trace-id',
  'x-trace-id',
  'cf-ray',
];
const longestId = 64;

/**
 * The id that an answer's headers name, of 64 characters at most; null without one. What is not made of the characters of ids, has no
 * digit or holds one of our secrets is none: a server can put anything there.
 */
export function serverRequestId(headers: Record<string, string | string[] | undefined>): string | null {
  for (const name of names) {
    const header = headers[name];
    const text = (Array.isArray(header) ? header[0] : header)?.trim();
    if (!text) continue;
    // Before it is cut: a part of a secret would not be recognised.
    if (redact(text) === text && /^[\w.:=;/+-]+$/.test(text) && /\d/.test(text)) return text.slice(0, longestId);
  }
  return null;
}

/** The ids of a request for a line of the log. */
export function requestIds(request: string, headers: Record<string, string | string[] | undefined> = {}): RequestIds {
  const server = serverRequestId(headers);
  return { request, ...(server === null ? {} : { server_request: server }) };
}
