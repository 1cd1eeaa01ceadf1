import type { Figures } from '../../queries/figures.ts';

/** Age after which figures are read again. */
const freshMs = 15_000;
/** Limit of a scrape's wait for new figures. After it, the scrape shows the last ones. */
const waitMs = 8_000;

/**
 * Caches figures that are expensive to read. They are read if a scrape needs them and the last ones are older than 15
 * s, by one reader at a time. If reading takes too long or fails, the last ones stay, with their age.
 */
export class Collector {
  readonly #read: () => Promise<Figures>;
  readonly #failed: (error: unknown) => void;
  readonly #elapsed: () => number;
  #last: { values: Figures; atMs: number } | null = null;
  #reading: Promise<void> | null = null;

  constructor(
    read: () => Promise<Figures>,
    { failed, elapsed }: { failed: (error: unknown) => void; elapsed: () => number },
  ) {
    this.#read = read;
    this.#failed = failed;
    this.#elapsed = elapsed;
  }

  async figures(): Promise<{ values: Figures; ageSeconds: number } | null> {
    if (this.#last === null || this.#elapsed() - this.#last.atMs > freshMs) {
      this.#reading ??= this.#readOnce();
      await Promise.race([this.#reading, waited(waitMs)]);
    }
    return this.#last && { values: this.#last.values, ageSeconds: (this.#elapsed() - this.#last.atMs) / 1000 };
  }

  async #readOnce(): Promise<void> {
    const atMs = this.#elapsed();
    try {
      this.#last = { values: await this.#read(), atMs };
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#reading = null;
    }
  }
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
