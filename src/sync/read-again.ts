import { PracticeError } from '../domain/practice-error.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';
import { pagesFor, pullById, pullPage, savePulled, walkFor } from './by-id.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { maxOffset } from './walk/offset-pages.ts';

/** Default pages in a large one: few requests, and little weight is lost where the server shows other records. */
const largePages = 5;

/** Of records that were read just now, whether the source has them, by id. */
export type ReadAgain = Map<number, boolean>;

/**
 * Reads records of a list again, one page a call, each of which decides about at least one of the wanted ids. A page is a range of ids
 * where the server shows ranges. Where it does not, it is a page of the whole list in the order that the server has: such pages cost no
 * more, and show the wanted records in an order of their own.
 */
export class PageReader {
  readonly #context: PullContext;
  readonly #kind: RecordKind;
  #pageSize: number | null = null;
  /** The page of the whole list that is asked for next; null while ranges are asked for. */
  #page: number | null = null;
  /** A page since the first has shown a wanted record. */
  #hasShown = false;

  constructor(context: PullContext, kind: RecordKind) {
    this.#context = context;
    this.#kind = kind;
  }

  /**
   * `wanted` is by id. The page has the default size, for records that are written before the next call; or with `isLarge` several
   * of it.
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

  /** Null where the server shows other records first. */
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
   * The page of the list that was asked for last, as long as it shows wanted records, and then those after it. So a list that is in the
   * order of changes, where what is written moves away, is read once, too; and where nothing moves, the page shows what was written.
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

  /** All of the list: what it does not show is not there. */
  async #walk(wanted: ReadonlySet<number>): Promise<ReadAgain> {
    const found = new Set<number>();
    await walkFor(this.#context, this.#kind, wanted, found);
    this.#page = 1;
    return new Map([...wanted].map((id) => [id, found.has(id)]));
  }

  /** Null where there is no such page. */
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
