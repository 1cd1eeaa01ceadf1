import { isExactNumber, type JsonValue, maxDepth } from './json.ts';

/**
 * What is read from outside is limited (docs/OPERATIONS.md "Limits"). The limits lie far above what practices have: a record of a few
 * kilobytes and some dozen values, a page of 1,000 of them.
 */

/** One answer. `bytes` are counted decompressed, while they arrive; `records` are those of a list. */
export const pageLimits = { bytes: 4 * 1024 * 1024, records: 50_000 } as const;

/** One record, and any other answer. */
export const recordLimits = {
  chars: 512 * 1024,
  values: 10_000,
  depth: maxDepth,
} as const;

/** What a value holds: characters of its texts and keys, values, and how deeply they are nested. */
export interface Extent {
  chars: number;
  values: number;
  depth: number;
}

/** What a value holds, told as far as it is within the limits: a value beyond them is not walked to its end. */
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

/** Why a record is too large to be read, for users; null where it is not. */
export function excessOf({ chars, values, depth }: Extent): string | null {
  if (chars > recordLimits.chars) return `${chars} characters, at most ${recordLimits.chars} are read`;
  if (values > recordLimits.values) return `more than ${recordLimits.values} values`;
  if (depth > recordLimits.depth) return `nested more than ${recordLimits.depth} deep`;
  return null;
}
