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
  if (items.length === 0) throw error;
  const middle = Math.ceil(items.length / 2);
  // A single one is tried again, too: what fails twice, and the second time alone, is the culprit.
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
