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
  /** `Date` of the latest answer before this request was sent, in epoch milliseconds. Null if there was none. */
  dateBefore: number | null;
}

/** A request without an answer. `sent`: the server may have received it. */
export interface NoAnswer {
  error: PracticeError;
  sent: boolean;
}

/** Sends each HTTP request once, without retries and without following redirects. */
export interface Transport {
  /** Throws only the signal's reason. */
  send(request: HttpRequest): Promise<HttpAnswer | NoAnswer>;
  /**
   * A lower bound of the server's present time from its answers, in epoch milliseconds. Null before the first answer.
   */
  serverNow(): number | null;
  /** Closes idle connections. */
  close(): void;
}

/** The answer's `Date` header in epoch milliseconds. Null if it is missing or invalid. */
export function dateOf(answer: Pick<HttpAnswer, 'headers'>): number | null {
  const header = answer.headers.date;
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}
