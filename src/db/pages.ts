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
