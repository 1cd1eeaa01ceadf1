/**
 * A token bucket that starts with `capacity` tokens and gains one every `refillMs`. Times are milliseconds of a
 * monotonic clock.
 */
export class TokenBucket {
  readonly #capacity: number;
  readonly #refillMs: number;
  #tokens: number;
  #at: number;

  constructor(capacity: number, refillMs: number, nowMs: number) {
    this.#capacity = capacity;
    this.#refillMs = refillMs;
    this.#tokens = capacity;
    this.#at = nowMs;
  }

  /** Takes a token. Returns false if there is none. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until a token is available; 0 if there is one. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) * this.#refillMs);
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (nowMs - this.#at) / this.#refillMs);
    this.#at = nowMs;
  }
}

/**
 * One bucket per key. Only the `maxKeys` most recently used keys are kept, so that a client with many keys cannot fill
 * the memory.
 */
export class KeyedBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #make: (nowMs: number) => TokenBucket;
  readonly #maxKeys: number;

  constructor(make: (nowMs: number) => TokenBucket, maxKeys: number) {
    this.#make = make;
    this.#maxKeys = maxKeys;
  }

  take(key: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(key) ?? this.#make(nowMs);
    // The key is inserted again at the end, so that the map's first key is the least recently used one.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [leastRecent] = this.#buckets.keys();
    if (this.#buckets.size > this.#maxKeys && leastRecent !== undefined) this.#buckets.delete(leastRecent);
    return bucket.take(nowMs);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
