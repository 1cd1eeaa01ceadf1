import { PracticeError } from '../domain/practice-error.ts';
import type { Sliced } from '../domain/slices.ts';
import { cutArray, extentOf } from './cut.ts';
import { isJsonObject, type JsonValue, readJson, storableJson, stringEnd } from './json.ts';
import { excessOf, pageLimits, recordLimits } from './limits.ts';
import { shrink } from './shrink.ts';
import { integer } from './values.ts';

/** One page of a list (practice-api: Conventions 5). */
export interface ListBody<Item> {
  count: number;
  results: Item[];
}

/** What a record costs beside its characters, when it is read (src/domain/slices.ts). */
const unitsPerRecord = 2_000;
const unitsPerValue = 20;

/**
 * Reads the body of an answer of the list `kind`, in slices. `read` is called with each record's JSON text and its parsed value.
 * The parsed values are not kept, so that a page takes only the memory of its text. A record that is too large is read without
 * its large fields (`shrink`). Throws PracticeError `malformed_response`, `answer_too_large` before anything is built, and
 * SyntaxError where the body is no JSON.
 */
export function* readListBody<Item>(
  kind: string,
  body: string,
  read: (raw: string, value: JsonValue) => Item,
): Sliced<ListBody<Item>> {
  let records = 0;
  let values = 0;
  const parts = yield* cutArray(body, 'results', (part) => {
    records += 1;
    // Of a record that is too large by itself, little is built.
    values += Math.min(part.values, recordLimits.values);
    if (records > pageLimits.records) throw tooLarge(kind, `more than ${pageLimits.records} records`);
    if (values > pageLimits.values) throw tooLarge(kind, `more than ${pageLimits.values} values`);
  });
  const envelope = yield* readSmall(kind, parts?.rest ?? body);
  const count = isJsonObject(envelope) ? integer.read(envelope.count) : undefined;
  if (parts === null || count === undefined || count < 0) {
    throw new PracticeError(
      'malformed_response',
      `the answer of the ${kind} list is no list: it lacks a usable count or results`,
    );
  }
  const results: Item[] = [];
  for (const part of parts.elements) {
    const excess = excessOf(part);
    const raw = excess === null ? part.text : yield* shrink(part.text, excess);
    const { text, value } = readRecordText(storableJson(raw));
    results.push(read(text, value));
    yield unitsPerRecord + raw.length + unitsPerValue * part.values;
  }
  return { count, results };
}

/**
 * A record's text and value. Some servers write NaN and Infinity, which are no JSON: they are kept as texts, so that the field
 * is a defect of its record and not of the page. Throws SyntaxError.
 */
function readRecordText(text: string): { text: string; value: JsonValue } {
  try {
    return { text, value: readJson(text) };
  } catch (error) {
    const mended = withNumbersAsTexts(text);
    if (!(error instanceof SyntaxError) || mended === text) throw error;
    return { text: mended, value: readJson(mended) };
  }
}

/** What stands for a number outside texts, and the quotation marks that begin one. */
const noNumber = /-?\b(?:NaN|Infinity)\b|"/g;

function withNumbersAsTexts(text: string): string {
  let mended = '';
  let from = 0;
  noNumber.lastIndex = 0;
  for (let found = noNumber.exec(text); found !== null; found = noNumber.exec(text)) {
    if (found[0] === '"') noNumber.lastIndex = stringEnd(text, found.index) + 1;
    else {
      mended += `${text.slice(from, found.index)}"${found[0]}"`;
      from = noNumber.lastIndex;
    }
  }
  return mended + text.slice(from);
}

/** Parses a text that is no list of records. Throws PracticeError `answer_too_large`, and SyntaxError where it is no JSON. */
export function* readSmall(
  what: string,
  text: string,
  parse: (text: string) => JsonValue = readJson,
): Sliced<JsonValue> {
  if (text.length > recordLimits.chars && !/^\s*[[{]/.test(text.slice(0, 1_000))) throw new SyntaxError('no JSON');
  const excess = excessOf(yield* extentOf(text));
  if (excess !== null) throw tooLarge(what, excess);
  return parse(text);
}

function tooLarge(kind: string, excess: string): PracticeError {
  return new PracticeError('answer_too_large', `the answer of the ${kind} list is too large: ${excess}`);
}
