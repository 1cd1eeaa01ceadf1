import { PracticeError, type PracticeErrorCode } from '../domain/practice-error.ts';
import { clip } from '../domain/text.ts';
import { isJsonObject, type JsonValue, parseJson } from '../records/json.ts';
import { dateOf, type HttpAnswer, type Method } from './http.ts';
import { retryAfterMs } from './retry.ts';

const longestMessage = 500;

/**
 * The body of a successful answer, read by `parse`; null for an answer without a body, except to GET. Throws the PracticeError
 * for the status or for a body that is no JSON (practice-api: Errors). `redact` removes secrets from the server's messages.
 */
export function readAnswer<Body>(
  answer: HttpAnswer,
  method: Method,
  path: string,
  clockNow: number,
  redact: (text: string) => string,
  parse: (body: string) => Body,
): Body | null {
  const { status } = answer;
  const pause = retryAfterMs(answer.headers['retry-after'], dateOf(answer) ?? clockNow);
  const details = { method, path, status, ...(pause === null ? {} : { retryAfterMs: pause }) };
  const fail = (code: PracticeErrorCode, sentence: string) => {
    const said = status >= 400 && status < 500 ? saidIn(answer.body) : '';
    return new PracticeError(code, `${sentence}${said && ': '}${redact(said)}`, details);
  };

  if (status === 401) throw fail('unauthorized', 'the access token was not accepted (401)');
  if (status === 403) throw fail('forbidden', 'not allowed (403)');
  if (status === 404) throw fail('not_found', 'not found (404)');
  if (status === 429) throw fail('throttled', 'too many requests (429)');
  if (status >= 500) throw fail('server_error', `the server failed (${status})`);
  if (status >= 400) throw fail('refused', `refused (${status})`);
  if (status >= 300) throw fail('redirected', `answered with a redirect (${status}), which is not followed`);
  if (answer.body.trim() === '' && method !== 'GET') return null;
  try {
    return parse(answer.body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw fail('not_json', `the answer (${status}) is not JSON, or not all of it arrived`);
  }
}

/** The messages in an error body as Django REST Framework writes them (field-notes: Lists and filters); '' for any other. */
function saidIn(body: string): string {
  let value: JsonValue;
  try {
    value = parseJson(body);
  } catch {
    return '';
  }
  const said = messages(value).join('; ');
  return clip(said, longestMessage);
}

function messages(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(messages);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    messages(inner).map((message) =>
      ['detail', 'non_field_errors'].includes(field) ? message : `${field}: ${message}`,
    ),
  );
}
