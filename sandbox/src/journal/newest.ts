// In-memory logs that keep the newest records, up to a number of records and of bytes.

/** A record with the id that the log assigned. */
export interface Logged {
  id: number;
}

export class Newest<T extends Logged> {
  readonly #maxCount: number;
  readonly #maxBytes: number;
  /** Records by id, oldest first. */
  readonly #kept = new Map<number, { record: T; bytes: number }>();
  #bytes = 0;
  #lastId = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  /** Adds a record of this size in bytes. Its id is higher than all earlier ones, even after `clear`. */
  add(fields: Omit<T, 'id'>, bytes: number): T {
    const record = { id: ++this.#lastId, ...fields } as T;
    this.#kept.set(record.id, { record, bytes: 0 });
    if (this.#kept.size > this.#maxCount) this.#dropOldest();
    this.grow(record, bytes);
    return record;
  }

  /** Adds to the size of a record. A record that is no longer in the log is ignored. */
  grow(record: T, bytes: number): void {
    const kept = this.#kept.get(record.id);
    if (!kept) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#dropOldest();
  }

  get(id: number): T | null {
    return this.#kept.get(id)?.record ?? null;
  }

  /** The records with a higher id, oldest first. */
  after(id: number): T[] {
    return [...this.#kept.values()].map(({ record }) => record).filter((record) => record.id > id);
  }

  /** The newest records, newest first. */
  newest(count: number): T[] {
    return this.after(0).slice(-count).toReversed();
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #dropOldest(): void {
    const [oldest] = this.#kept;
    if (!oldest) return;
    this.#kept.delete(oldest[0]);
    this.#bytes -= oldest[1].bytes;
  }
}
