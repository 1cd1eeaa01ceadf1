import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Reads a long result page by page (keyset pagination), so that one page is in memory at a time. `read` is given the last row of
 * the page before, null for the first page, and returns at most `size` rows; a shorter page is the last one.
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

/** As `pages`; the next page is read while the caller works on this one. A caller that leaves early has one more page read. */
export async function* pagesAhead<Row>(
  size: number,
  read: (after: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let next: Promise<Row[]> | null = read(null); next !== null; ) {
    const page: Row[] = await next;
    const last = page.at(-1);
    if (last === undefined) return;
    next = page.length < size ? null : read(last);
    // Its error is thrown when the page is awaited.
    next?.catch(() => undefined);
    // A statement leaves at the end of the turn, not before the caller's work.
    await nextTurn();
    yield page;
  }
}
