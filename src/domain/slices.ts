/**
 * Work of unlimited size, done in slices so that it never blocks the process: a generator that yields the cost of its
 * work since the last yield. One unit is the scan of one character, some nanoseconds.
 */
export type Sliced<Result> = Generator<number, Result, void>;

/** About one millisecond of work; up to a dozen on a busy machine or before the code is compiled. */
const unitsPerSlice = 100_000;

/** Does the work, and lets the event loop run between slices. */
export async function inSlices<Result>(work: Sliced<Result>): Promise<Result> {
  let units = 0;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    units += step.value;
    if (units < unitsPerSlice) continue;
    units = 0;
    await nextTurn();
  }
}

/** Does the work without slices, for inputs that are known to be small. */
export function atOnce<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Maps items in slices; `costOf` returns the cost of one item. */
export function* mapped<Item, Result>(
  items: readonly Item[],
  costOf: (item: Item) => number,
  map: (item: Item) => Result,
): Sliced<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    yield costOf(item);
  }
  return results;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
