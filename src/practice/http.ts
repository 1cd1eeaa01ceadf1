import type { PracticeError } from '../domain/practice-error.ts';

export type Method = 'GET' | 'POST' | 'PATCH';

export interface HttpRequest {
  method: Method;
  url: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  durationMs: number;
  /** The `Date` of the latest answer that was here before this request was sent, epoch milliseconds; null without one. */
  dateBefore: number | null;
}

/** Without an answer: why, and whether the server can have received the request at all. */
export interface NoAnswer {
  error: PracticeError;
  sent: boolean;
}

/** One HTTP request, tried once: no retry, no redirect. Throws only the signal's reason. */
export interface Transport {
  send(request: HttpRequest): Promise<HttpAnswer | NoAnswer>;
  /** A time that the server's clock has reached by now, epoch milliseconds, judged by its answers; null before any. */
  serverNow(): number | null;
  /** Ends idle connections. */
  close(): void;
}

/** The server's clock when it answered, epoch milliseconds, whole seconds; null without a usable `Date` header. */
export function dateOf(answer: Pick<HttpAnswer, 'headers'>): number | null {
  const header = answer.headers.date;
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}
