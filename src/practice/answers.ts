import { PracticeError, type PracticeErrorCode } from '../domain/practice-error.ts';
import { retryAfterMs } from '../domain/retry-after.ts';
import { isJsonObject, type JsonValue, readJson } from '../records/json.ts';
import { dateOf, type HttpAnswer, type Method } from './http.ts';

const longestErrorBody = 64 * 1024;

/**
 * The body of a successful answer, read by `parse`; null for an answer without a body, except to GET. Throws the PracticeError
 * for the status or for a body that is no JSON (practice-api: Errors). Of an error's body it repeats codes and names of fields only;
 * `sent` are the names that the request used, which a refusal is likely to be about.
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
  const fail = (code: PracticeErrorCode, sentence: string) => {
    const named = status >= 400 && status < 500 ? namedIn(answer.body, sent) : { codes: [], fields: [] };
    return new PracticeError(code, `${sentence}${sayNames(named)}`, { ...details, fields: named.fields });
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
    return await parse(answer.body);
  } catch (error) {
    if (error instanceof PracticeError && error.code === 'answer_too_large') throw fail(error.code, error.message);
    if (!(error instanceof SyntaxError)) throw error;
    throw fail('not_json', `the answer (${status}) is not JSON, or not all of it arrived`);
  }
}

/** What the body of a refusal names: an error's code, and fields. What it says about them may be anything, so it is not repeated. */
interface Named {
  codes: string[];
  fields: string[];
}

const mostNames = 20;
const codePattern = /^[a-z][a-z0-9_-]{0,59}$/;
const fieldPattern = /^[a-z][a-z0-9_]{0,59}$/;
/** Keys under which Django REST Framework says what is about no field. */
const notFields = ['detail', 'non_field_errors', 'code', 'status', 'messages', 'message', 'error', 'errors'];

/**
 * The names in an error body as Django REST Framework writes them (field-notes: Lists and filters), and those of `sent` that
 * its texts mention; none for any other body.
 */
function namedIn(body: string, sent: readonly string[]): Named {
  const named: Named = { codes: [], fields: [] };
  // The messages of an error are short; what is longer is a page of HTML, or worse.
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
    // Its own name, unless a name below it says more.
    if (isField && into.fields.length === before && inner !== null && typeof inner !== 'number') {
      into.fields.push(place.join('.'));
    }
  }
}

function sayNames({ codes, fields }: Named): string {
  const said = [
    ...(codes.length > 0 ? [`code ${codes.join(', ')}`] : []),
    ...(fields.length > 0 ? [`${fields.length === 1 ? 'field' : 'fields'} ${fields.join(', ')}`] : []),
  ];
  return said.length > 0 ? `: ${said.join('; ')}` : '';
}
