import { PracticeError } from '../domain/practice-error.ts';
import type { Sliced } from '../domain/slices.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { recordTexts } from '../texts/findings/records.ts';
import { isJsonObject, type JsonValue, parseMarked } from './json.ts';
import { excessOf, extentOf, pageLimits } from './limits.ts';
import { shrink } from './shrink.ts';
import { integer } from './values.ts';

/** One page of a list (practice-api: Conventions 5). */
export interface ListBody<Item> {
  count: number;
  results: Item[];
}

/** The work of reading a record, beside its characters, in the units of src/domain/slices.ts. */
const unitsPerRecord = 2_000;
const unitsPerValue = 20;

/**
 * Reads the body of an answer of the list `kind`. The body is parsed once; then `read` is called for each record, in
 * slices. A record that is too large is passed without its large fields (`shrink`). Numbers in `verbatim` members keep
 * their notation. Throws PracticeError `malformed_response` or `answer_too_large`, and SyntaxError if the body is not
 * JSON.
 */
export function* readListBody<Item>(
  kind: string,
  body: string,
  read: (value: JsonValue) => Item,
  verbatim?: { member: string },
): Sliced<ListBody<Item>> {
  const { value: page, exact } = parseMarked(body, { acceptNaN: true, verbatim });
  yield body.length;
  const found = isJsonObject(page) && Array.isArray(page.results) ? (page.results as JsonValue[]) : null;
  const counted = isJsonObject(page) ? page.count : undefined;
  const count = integer.read(typeof counted === 'string' ? exact(counted) : counted);
  if (found === null || count === undefined || count < 0) {
    throw new PracticeError('malformed_response', practiceTexts.notAList({ list: kind }));
  }
  if (found.length > pageLimits.records) throw tooLarge(kind, recordTexts.tooManyRecords({ most: pageLimits.records }));
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
 * Reads an answer that is not a list of records. With `verbatim`, its numbers keep their notation. Throws PracticeError
 * `answer_too_large`, and SyntaxError if it is not JSON.
 */
export function readSmall(what: string, text: string, verbatim?: 'all'): JsonValue {
  const { value, exact } = parseMarked(text, { verbatim });
  const excess = excessOf(extentOf(value));
  if (excess !== null) throw tooLarge(what, excess);
  return exact(value);
}

function tooLarge(kind: string, excess: string): PracticeError {
  return new PracticeError('answer_too_large', practiceTexts.listTooLarge({ list: kind, reason: excess }));
}
