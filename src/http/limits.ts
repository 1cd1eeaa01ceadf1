/** A token bucket: so many at once, and one more each `refillMs`. Time comes in as milliseconds of a clock that never jumps. */
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

  /** Takes one; false, and nothing taken, where there is none. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until there is one. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) * this.#refillMs);
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (nowMs - this.#at) / this.#refillMs);
    this.#at = nowMs;
  }
}

/** A bucket for each key; of the keys only the latest `maxKeys` are remembered, so that strangers cannot fill the memory. */
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
    // Put back at the end: the map's first key is the one that was used longest ago.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket.take(nowMs);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
