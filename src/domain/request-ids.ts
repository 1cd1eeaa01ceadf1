import { redact } from './redact.ts';

/** Ids that find a request in our log and in the server's. */
export interface RequestIds {
  /** Our id, the same for all attempts of a request. */
  request: string;
  /** The server's id, if its answer has one. */
  server_request?: string;
}

/** Headers in which servers and proxies send the id of a request. */
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
 * The id in an answer's headers, at most 64 characters, or null. A server can send anything, so a value with unusual
 * characters, without a digit, or with one of our secrets is ignored.
 */
export function serverRequestId(headers: Record<string, string | string[] | undefined>): string | null {
  for (const name of names) {
    const header = headers[name];
    const text = (Array.isArray(header) ? header[0] : header)?.trim();
    if (!text) continue;
    // Check before cutting, because part of a secret would not be recognised.
    if (redact(text) === text && /^[\w.:=;/+-]+$/.test(text) && /\d/.test(text)) return text.slice(0, longestId);
  }
  return null;
}

/** The ids of a request for a line of the log. */
export function requestIds(request: string, headers: Record<string, string | string[] | undefined> = {}): RequestIds {
  const server = serverRequestId(headers);
  return { request, ...(server === null ? {} : { server_request: server }) };
}
