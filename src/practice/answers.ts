import { PracticeError, type PracticeErrorCode } from '../domain/practice-error.ts';
import { retryAfterMs } from '../domain/retry-after.ts';
import { isJsonObject, type JsonValue, readJson } from '../records/json.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { dateOf, type HttpAnswer, type Method } from './http.ts';

const longestErrorBody = 64 * 1024;

/**
 * The body of a successful answer, read by `parse`. Null for an answer without a body, except to GET. Throws the
 * PracticeError for the status, or for a body that is not JSON (practice-api: Errors). From the body of an error it
 * repeats only codes and field names. `sent` are the names in the request, which a refusal is likely to mention.
 */
export async function readAnswer<Body>(
  answer: HttpAnswer,
  method: Method,
  path: string,
  clockNow: number,
  sent: readonly string[],
  parse: (body: string) => Promise<Body>,
): Promise<Body | null> {
  const { status } = answer;
  const pause = retryAfterMs(answer.headers['retry-after'], dateOf(answer) ?? clockNow);
  const details = { method, path, status, ...(pause === null ? {} : { retryAfterMs: pause }) };
  const fail = (code: PracticeErrorCode, message: string) => {
    const named = status >= 400 && status < 500 ? namedIn(answer.body, sent) : { codes: [], fields: [] };
    return new PracticeError(code, `${message}${textOfNames(named)}`, { ...details, fields: named.fields });
  };

  if (status === 401) throw fail('unauthorized', practiceTexts.tokenRefused);
  if (status === 403) throw fail('forbidden', practiceTexts.forbidden);
  if (status === 404) throw fail('not_found', practiceTexts.notFound);
  if (status === 429) throw fail('throttled', practiceTexts.throttled);
  if (status >= 500) throw fail('server_error', practiceTexts.serverFailed({ status }));
  if (status >= 400) throw fail('refused', practiceTexts.refused({ status }));
  if (status >= 300) throw fail('redirected', practiceTexts.redirected({ status }));
  if (answer.body.trim() === '' && method !== 'GET') return null;
  try {
    return await parse(answer.body);
  } catch (error) {
    if (error instanceof PracticeError && error.code === 'answer_too_large') throw fail(error.code, error.message);
    if (!(error instanceof SyntaxError)) throw error;
    throw fail('not_json', practiceTexts.notJson({ status }));
  }
}

/**
 * The error codes and field names in the body of a refusal. Its texts are not repeated, because they may contain
 * anything.
 */
interface Named {
  codes: string[];
  fields: string[];
}

const mostNames = 20;
const codePattern = /^[a-z][a-z0-9_-]{0,59}$/;
const fieldPattern = /^[a-z][a-z0-9_]{0,59}$/;
/** Keys under which Django REST Framework puts messages that do not concern a field. */
const notFields = ['detail', 'non_field_errors', 'code', 'status', 'messages', 'message', 'error', 'errors'];

/**
 * The names in an error body in the form of Django REST Framework (field-notes: Lists and filters), and those of `sent`
 * that its texts mention. Empty for any other body.
 */
function namedIn(body: string, sent: readonly string[]): Named {
  const named: Named = { codes: [], fields: [] };
  // Error messages are short. A longer body is probably a page of HTML.
  if (body.length > longestErrorBody) return named;
  let value: JsonValue;
  try {
    value = readJson(body);
  } catch {
    return named;
  }
  collectNames(value, [], named);
  const mentioned = sent.filter((name) => body.includes(name));
  return {
    codes: [...new Set(named.codes)].slice(0, mostNames),
    fields: [...new Set([...mentioned.filter((name) => !named.fields.includes(name)), ...named.fields])].slice(
      0,
      mostNames,
    ),
  };
}

function collectNames(value: JsonValue, path: string[], into: Named): void {
  if (path.length > 4) return;
  if (Array.isArray(value)) for (const each of value) collectNames(each, path, into);
  if (!isJsonObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'code' && typeof inner === 'string' && codePattern.test(inner)) into.codes.push(inner);
    const isField = !notFields.includes(name);
    if (isField && !fieldPattern.test(name)) continue;
    const place = isField ? [...path, name] : path;
    const before = into.fields.length;
    collectNames(inner, place, into);
    // The field is named only if no field below it was named.
    if (isField && into.fields.length === before && inner !== null && typeof inner !== 'number') {
      into.fields.push(place.join('.'));
    }
  }
}

function textOfNames({ codes, fields }: Named): string {
  const parts = [
    ...(codes.length > 0 ? [practiceTexts.codes({ codes: codes.join(', ') })] : []),
    ...(fields.length > 0 ? [practiceTexts.fields({ fields: fields.join(', '), count: fields.length })] : []),
  ];
  return parts.length > 0 ? `: ${parts.join('; ')}` : '';
}
