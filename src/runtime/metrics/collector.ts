import type { Figures } from '../../queries/figures.ts';

/** How old figures may be before they are read anew. */
const freshMs = 15_000;
/** How long a scrape waits for them; it shows the ones before otherwise. */
const waitMs = 8_000;

/**
 * Keeps figures that are expensive to read: they are read when somebody asks and the last ones are older than 15 s, by one reader at
 * a time. Where that takes too long, or fails, the last ones stay, with their age.
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
