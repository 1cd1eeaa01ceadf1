import { redact } from './redact.ts';
import type { RequestIds } from './request-ids.ts';
import { storable } from './text.ts';

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

/** `retryable` is true if the same request may succeed later without a correction. */
const catalogue: Record<PracticeErrorCode, { retryable: boolean; todo: string }> = {
  unreachable: {
    retryable: true,
    todo: 'Check base_url and the network; it is tried again by itself in the next window.',
  },
  timeout: {
    retryable: true,
    todo: 'The practice API is slow; it is tried again by itself in the next window.',
  },
  unauthorized: {
    retryable: false,
    todo: 'Check the token, or the client id and secret, of this installation.',
  },
  forbidden: {
    retryable: false,
    todo: 'Give the application the permission for this endpoint in the practice software.',
  },
  not_found: {
    retryable: false,
    todo: 'Check base_url and the installation id; if they are right, the record or the endpoint does not exist there.',
  },
  throttled: {
    retryable: true,
    todo: 'Another program may be using this installation too; it is tried again by itself in the next window.',
  },
  server_error: {
    retryable: true,
    todo: 'The fault is in the practice API; it is tried again by itself, report it to the vendor if it stays.',
  },
  not_json: {
    retryable: true,
    todo: 'Check that base_url names the practice API itself, not a login or maintenance page.',
  },
  malformed_response: {
    retryable: false,
    todo: 'Check base_url and mappings/practice-api.yaml; if they are right, report the answer to the vendor.',
  },
  malformed_record: {
    retryable: false,
    todo: 'Check the field names in mappings/practice-api.yaml; if they are right, report the record to the vendor.',
  },
  other_tenant: {
    retryable: false,
    todo: 'Check base_url, the id of the installation and its token: the practice API answers with the records of another one.',
  },
  answer_too_large: {
    retryable: false,
    todo: 'Find the record in the practice software that is so large and shorten it, or report the answer to the vendor.',
  },
  refused: {
    retryable: false,
    todo: 'The message names the fields that the practice API objects to, where it says so; correct them in the practice software or the settings.',
  },
  redirected: {
    retryable: false,
    todo: 'Correct base_url: the practice API must answer there itself (https instead of http, for example).',
  },
};

export const practiceErrorCodes: ReadonlySet<string> = new Set(Object.keys(catalogue));

export interface PracticeErrorDetails {
  method?: string;
  /** Without the query, which may contain personal data. */
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
    super(storable(redact(`${where}${message}`)));
    this.code = code;
    this.todo = catalogue[code].todo;
    this.retryable = details.retryable ?? catalogue[code].retryable;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.fields = details.fields ?? [];
  }
}
