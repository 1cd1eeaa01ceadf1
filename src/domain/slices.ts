/**
 * Work whose size somebody else decides, done in slices so that it never holds up everything else in the process: a generator
 * that yields the cost of what it has done since its last yield. One unit is a character scanned once, some nanoseconds.
 */
export type Sliced<Result> = Generator<number, Result, void>;

/** About a millisecond of work, some dozen on a busy machine or before the code is compiled. */
const unitsPerSlice = 100_000;

/** Does the work, and lets the event loop turn between its slices. */
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

/** Does the work at once: for what is known to be small. */
export function atOnce<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Maps items in slices; `costOf` tells what one costs. */
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
