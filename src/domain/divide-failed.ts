/**
 * Repeats work that failed with `error` for a group of items: half by half, down to single items. So each failing item
 * is found, and the others succeed. `isTheirs` returns true for errors that an item may cause; other errors are thrown.
 * Each failing item costs about twice the logarithm of the group's size in attempts.
 */
export async function divideFailed<Item, Result>(
  items: readonly Item[],
  error: unknown,
  ports: {
    work: (items: readonly Item[]) => Promise<Result>;
    isTheirs: (error: unknown) => boolean;
    /** `divideFailed` calls this with each item that fails alone. */
    culprit: (item: Item, error: unknown) => Promise<Result>;
  },
): Promise<Result[]> {
  if (!ports.isTheirs(error)) throw error;
  if (items.length === 0) throw error;
  const middle = Math.ceil(items.length / 2);
  // A single item is tried again, so that only an item that fails twice counts.
  const parts = items.length === 1 ? [items] : [items.slice(0, middle), items.slice(middle)];
  const results: Result[] = [];
  for (const part of parts) {
    try {
      results.push(await ports.work(part));
    } catch (failure) {
      const [single, ...others] = part;
      if (single === undefined || others.length > 0) results.push(...(await divideFailed(part, failure, ports)));
      else if (ports.isTheirs(failure)) results.push(await ports.culprit(single, failure));
      else throw failure;
    }
  }
  return results;
}
