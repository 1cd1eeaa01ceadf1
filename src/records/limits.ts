import { maxDepth } from './json.ts';

/**
 * What is read from outside is limited before anything is built of it (docs/OPERATIONS.md "Limits"). The limits lie far above
 * what practices have: a record of a few kilobytes and some dozen values, a page of 1,000 of them.
 */

/** One answer of a list. `bytes` are counted decompressed, while they arrive. */
export const pageLimits = { bytes: 16 * 1024 * 1024, records: 50_000, values: 1_000_000 } as const;

/** One record, and any other answer. */
export const recordLimits = {
  chars: 512 * 1024,
  values: 10_000,
  depth: maxDepth,
} as const;

/** What a JSON text holds, counted without building it. Values are counted by commas and brackets: rather too many than too few. */
export interface Extent {
  chars: number;
  values: number;
  depth: number;
}

/** Why a record is too large to be read, for users; null where it is not. */
export function excessOf({ chars, values, depth }: Extent): string | null {
  if (chars > recordLimits.chars) return `${chars} characters, at most ${recordLimits.chars} are read`;
  if (values > recordLimits.values) return `${values} values, at most ${recordLimits.values} are read`;
  if (depth > recordLimits.depth) return `nested ${depth} deep, at most ${recordLimits.depth} levels are read`;
  return null;
}
