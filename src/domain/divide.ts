/**
 * Works on items that together have failed with `error`: half by half, down to single ones, so that each item that fails alone
 * is found and the others are done. `isTheirs` tells an error that may be one item's own; any other is thrown on. About twice
 * the logarithm of their number in attempts for each culprit.
 */
export async function divideFailed<Item, Result>(
  items: readonly Item[],
  error: unknown,
  ports: {
    work: (items: readonly Item[]) => Promise<Result>;
    isTheirs: (error: unknown) => boolean;
    /** Called with each item that fails alone. */
    culprit: (item: Item, error: unknown) => Promise<Result>;
  },
): Promise<Result[]> {
  if (!ports.isTheirs(error)) throw error;
  const [first] = items;
  if (first === undefined) throw error;
  if (items.length === 1) return [await ports.culprit(first, error)];
  const middle = Math.ceil(items.length / 2);
  const results: Result[] = [];
  for (const half of [items.slice(0, middle), items.slice(middle)]) {
    try {
      results.push(await ports.work(half));
    } catch (failure) {
      results.push(...(await divideFailed(half, failure, ports)));
    }
  }
  return results;
}
