import { PracticeError } from '../domain/practice-error.ts';
import type { Sliced } from '../domain/slices.ts';
import { isJsonObject, type JsonValue, parseMarked } from './json.ts';
import { excessOf, extentOf, pageLimits } from './limits.ts';
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
 * Reads the body of an answer of the list `kind`: parsed once, then record by record, in slices. `read` is called with each record;
 * one that is too large comes without its large fields (`shrink`). Numbers in `verbatim` members keep their notation. Throws PracticeError `malformed_response`, `answer_too_large`, and
 * SyntaxError where the body is no JSON.
 */
export function* readListBody<Item>(
  kind: string,
  body: string,
  read: (value: JsonValue) => Item,
  verbatim?: { member: string },
): Sliced<ListBody<Item>> {
  const { value: page, exact } = parseMarked(body, { mend: true, verbatim });
  yield body.length;
  const found = isJsonObject(page) && Array.isArray(page.results) ? (page.results as JsonValue[]) : null;
  const counted = isJsonObject(page) ? page.count : undefined;
  const count = integer.read(typeof counted === 'string' ? exact(counted) : counted);
  if (found === null || count === undefined || count < 0) {
    throw new PracticeError(
      'malformed_response',
      `the answer of the ${kind} list is no list: it lacks a usable count or results`,
    );
  }
  if (found.length > pageLimits.records) throw tooLarge(kind, `more than ${pageLimits.records} records`);
  const results: Item[] = [];
  for (const record of found) {
    const extent = extentOf(record);
    const excess = excessOf(extent);
    results.push(read(exact(excess === null ? record : shrink(record, excess))));
    yield unitsPerRecord + extent.chars + unitsPerValue * extent.values;
  }
  return { count, results };
}

/**
 * Reads an answer that is no list of records; `verbatim`: its numbers keep their notation. Throws PracticeError `answer_too_large`, and
 * SyntaxError where it is no JSON.
 */
export function readSmall(what: string, text: string, verbatim?: 'all'): JsonValue {
  const { value, exact } = parseMarked(text, { verbatim });
  const excess = excessOf(extentOf(value));
  if (excess !== null) throw tooLarge(what, excess);
  return exact(value);
}

function tooLarge(kind: string, excess: string): PracticeError {
  return new PracticeError('answer_too_large', `the answer of the ${kind} list is too large: ${excess}`);
}
