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
  /** `Date` of the latest answer received before this request was sent, epoch milliseconds; null without one. */
  dateBefore: number | null;
}

/** A request without an answer; `sent`: the server may have received it. */
export interface NoAnswer {
  error: PracticeError;
  sent: boolean;
}

/** Sends HTTP requests, each once: no retry, no redirect. */
export interface Transport {
  /** Throws only the signal's reason. */
  send(request: HttpRequest): Promise<HttpAnswer | NoAnswer>;
  /** A lower bound of the server's present time from its answers, epoch milliseconds; null before the first answer. */
  serverNow(): number | null;
  /** Ends idle connections. */
  close(): void;
}

/** The answer's `Date` header, epoch milliseconds; null without a usable one. */
export function dateOf(answer: Pick<HttpAnswer, 'headers'>): number | null {
  const header = answer.headers.date;
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}
