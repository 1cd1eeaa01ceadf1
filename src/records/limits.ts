import { recordTexts } from '../texts/findings/records.ts';
import { isExactNumber, type JsonValue, maxDepth } from './json.ts';

/**
 * Limits for what is read from outside (docs/operators/reading.md). They are far above real sizes: a record has a few
 * kilobytes and some dozen values, and a page has at most 1,000 records.
 */

/** Limits of one answer. `bytes` are counted after decompression, while they arrive. `records` are those of a list. */
export const pageLimits = { bytes: 4 * 1024 * 1024, records: 50_000 } as const;

/** Limits of one record, and of any answer that is not a list. */
export const recordLimits = {
  chars: 512 * 1024,
  values: 10_000,
  depth: maxDepth,
} as const;

/** The size of a value: characters of its texts and keys, number of values, and depth of nesting. */
export interface Extent {
  chars: number;
  values: number;
  depth: number;
}

/** Measures a value. Measuring stops when a limit is exceeded, so the result for a larger value is incomplete. */
export function extentOf(value: JsonValue): Extent {
  const extent = { chars: 0, values: 0, depth: 0 };
  measure(value, extent, 0);
  return extent;
}

function measure(value: JsonValue, extent: Extent, depth: number): void {
  extent.values += 1;
  if (typeof value === 'string') extent.chars += value.length;
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return;
  if (depth >= extent.depth) extent.depth = depth + 1;
  if (extent.depth > recordLimits.depth) return;
  if (Array.isArray(value)) {
    for (const each of value) {
      if (extent.values > recordLimits.values) return;
      measure(each, extent, depth + 1);
    }
    return;
  }
  for (const key in value) {
    if (extent.values > recordLimits.values) return;
    extent.chars += key.length;
    measure((value as Record<string, JsonValue>)[key], extent, depth + 1);
  }
}

/** The reason why a record is too large to be read, as text for users. Null if it is within the limits. */
export function excessOf({ chars, values, depth }: Extent): string | null {
  if (chars > recordLimits.chars) return recordTexts.tooManyCharacters({ found: chars, most: recordLimits.chars });
  if (values > recordLimits.values) return recordTexts.tooManyValues({ most: recordLimits.values });
  if (depth > recordLimits.depth) return recordTexts.tooDeep({ most: recordLimits.depth });
  return null;
}
