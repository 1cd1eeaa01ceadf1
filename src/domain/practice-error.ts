import { practiceTodos } from '../texts/errors/practice-todos.ts';
import { redact } from './redact.ts';
import type { RequestIds } from './request-ids.ts';
import { postgresText } from './text.ts';

/** Failures of a request to the practice API, and of reading its answer. */
export type PracticeErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'throttled'
  | 'server_error'
  | 'not_json'
  | 'malformed_response'
  | 'malformed_record'
  | 'other_tenant'
  | 'answer_too_large'
  | 'refused'
  | 'redirected';

/** True if the same request may succeed later without a correction. */
const retryable: Record<PracticeErrorCode, boolean> = {
  unreachable: true,
  timeout: true,
  unauthorized: false,
  forbidden: false,
  not_found: false,
  throttled: true,
  server_error: true,
  not_json: true,
  malformed_response: false,
  malformed_record: false,
  other_tenant: false,
  answer_too_large: false,
  refused: false,
  redirected: false,
};

export const practiceErrorCodes: ReadonlySet<string> = new Set(Object.keys(retryable));

export interface PracticeErrorDetails {
  method?: string;
  /** The path of the request. It has no query, because a query may contain personal data. */
  path?: string;
  status?: number;
  retryAfterMs?: number;
  retryable?: boolean;
  /** Names of the fields and filters in the server's error answer. */
  fields?: readonly string[];
}

/**
 * A failed request to the practice API. The message is complete for users: what happened, method, path and status. It
 * contains no secret, no query values, no text of the source, and no character that PostgreSQL or Temporal refuses.
 * There is no `cause`, because the caught error contains the request's headers.
 */
export class PracticeError extends Error {
  override readonly name = 'PracticeError';
  readonly code: PracticeErrorCode;
  readonly todo: string;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly fields: readonly string[];
  /** Ids of the failed request, for the log. Null if no request was sent. */
  requestIds: RequestIds | null = null;

  constructor(code: PracticeErrorCode, message: string, details: PracticeErrorDetails = {}) {
    const where = details.method && details.path ? `${details.method} ${details.path}: ` : '';
    super(postgresText(redact(`${where}${message}`)));
    this.code = code;
    this.todo = practiceTodos[code];
    this.retryable = details.retryable ?? retryable[code];
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.fields = details.fields ?? [];
  }
}
