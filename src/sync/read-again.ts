import { PracticeError } from '../domain/practice-error.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';
import { pagesFor, pullById, pullPage, savePulled, walkFor } from './by-id.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { maxOffset } from './walk/offset-pages.ts';

/**
 * Number of default pages in a large page. It saves requests, and wastes little weight if the server returns other
 * records.
 */
const largePages = 5;

/** For each id that was just read: whether the source has the record. */
export type ReadAgain = Map<number, boolean>;

/**
 * Reads records of a list again, one page per call. Each call decides about at least one of the wanted ids. A page is a
 * range of ids if the server honours ranges. Otherwise it is a page of the whole list in the server's order, which
 * costs no more and shows the wanted records in that order.
 */
export class PageReader {
  readonly #context: PullContext;
  readonly #kind: RecordKind;
  #pageSize: number | null = null;
  /** The number of the next page of the whole list. Null while ranges are requested. */
  #page: number | null = null;
  /** Whether any page since page 1 has contained a wanted record. */
  #hasShown = false;

  constructor(context: PullContext, kind: RecordKind) {
    this.#context = context;
    this.#kind = kind;
  }

  /**
   * `wanted` is in the order of ids. The page has the default size, for records that are written before the next call.
   * With `isLarge` it has several times that size.
   */
  async read(wanted: readonly number[], isLarge: boolean): Promise<ReadAgain> {
    const [only] = wanted;
    if (wanted.length === 1 && only !== undefined && this.#page === null) {
      const { found } = await pullById(this.#context, this.#kind, only);
      return new Map([[only, found]]);
    }
    if (this.#page === null) {
      const read = await this.#range(wanted, isLarge);
      if (read !== null) return read;
      this.#page = 1;
    }
    return this.#numbered(new Set(wanted), !isLarge);
  }

  /** Null if the server returns other records first. */
  async #range(wanted: readonly number[], isLarge: boolean): Promise<ReadAgain | null> {
    const pageSize = await this.#defaultPageSize();
    const maxPageSize = isLarge ? Math.min(this.#context.dialect.max_page_size, largePages * pageSize) : pageSize;
    const sizes = { pageSize, maxPageSize };
    const [page] = await pagesFor(this.#context, this.#kind, wanted.slice(0, maxPageSize), sizes);
    if (page === undefined) return new Map();
    const pulled = await pullPage(this.#context, this.#kind, page, pageSize);
    if (pulled === null) return null;
    const missing = pulled.isWhole ? page.ids.filter((id) => !pulled.received.has(id)) : [];
    return new Map([
      ...[...pulled.received].map((id) => [id, true] as const),
      ...missing.map((id) => [id, false] as const),
    ]);
  }

  /**
   * Reads the last requested page of the list again as long as it contains wanted records, and then the pages after it.
   * In a list ordered by change, the records that we wrote move to later pages, so each page is still read once. In
   * any other list they stay, and the page shows what we wrote.
   */
  async #numbered(wanted: ReadonlySet<number>, stays: boolean): Promise<ReadAgain> {
    const pageSize = await this.#defaultPageSize();
    const read: ReadAgain = new Map();
    for (let page = this.#page ?? 1; ; ) {
      const answer = await this.#ask(page, pageSize);
      if (answer !== null) await savePulled(this.#context, this.#kind, answer);
      const received = answer?.results.map(({ id }) => id) ?? [];
      for (const id of received) read.set(id, true);
      this.#page = page;
      if (received.some((id) => wanted.has(id))) {
        this.#hasShown = true;
        if (!stays) this.#page = page + 1;
        return read;
      }
      const isLast = answer === null || page * pageSize >= Math.min(answer.count, maxOffset);
      if (isLast && !this.#hasShown) return this.#walk(wanted);
      if (isLast) this.#hasShown = false;
      page = isLast ? 1 : page + 1;
    }
  }

  /** Reads the whole list. The source does not have wanted records that are not in it. */
  async #walk(wanted: ReadonlySet<number>): Promise<ReadAgain> {
    const found = new Set<number>();
    await walkFor(this.#context, this.#kind, wanted, found);
    this.#page = 1;
    return new Map([...wanted].map((id) => [id, found.has(id)]));
  }

  /** Null if there is no such page. */
  async #ask(page: number, pageSize: number): Promise<ListAnswer | null> {
    const { client, priority } = this.#context;
    try {
      return await client.list(this.#kind, {}, pageSize, { priority, page, defaultPageSize: pageSize });
    } catch (error) {
      const isMissing = error instanceof PracticeError && (error.code === 'not_found' || error.code === 'refused');
      if (page > 1 && isMissing) return null;
      throw error;
    }
  }

  async #defaultPageSize(): Promise<number> {
    const { db, dialect, installation } = this.#context;
    this.#pageSize ??= (await readDefaultPageSizes(db, installation, dialect))[this.#kind];
    return this.#pageSize;
  }
}
