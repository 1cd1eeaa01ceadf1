import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Reads a long result page by page (keyset pagination), so that only one page is in memory. `read` receives the last
 * row of the previous page, null for the first page, and returns at most `size` rows. A shorter page is the last one.
 */
export async function* pages<Row>(size: number, read: (after: Row | null) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let after: Row | null = null; ; ) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = last;
  }
}

/**
 * Does the same as `pages`, but reads the next page while the caller works on this one. If the caller stops early, one
 * extra page was read.
 */
export async function* pagesAhead<Row>(
  size: number,
  read: (after: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let next: Promise<Row[]> | null = read(null); next !== null; ) {
    const page: Row[] = await next;
    const last = page.at(-1);
    if (last === undefined) return;
    next = page.length < size ? null : read(last);
    // An error of this read is thrown when the page is awaited.
    next?.catch(() => undefined);
    // The driver sends the statement at the end of the event loop's turn. This pause keeps the caller's work from
    // delaying it.
    await nextTurn();
    yield page;
  }
}
