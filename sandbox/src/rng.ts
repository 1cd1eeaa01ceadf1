// Seeded random numbers (mulberry32). The same seed and label give the same sequence. The state is one number, which is
// saved with the clinic, so that a loaded clinic continues the sequence.

export class Rng {
  #state: number;

  constructor(seed: number, label: string) {
    let hash = 2166136261;
    for (const char of `${seed}/${label}`) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619);
    this.#state = hash >>> 0;
  }

  get state(): number {
    return this.#state;
  }

  set state(value: number) {
    this.#state = value >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer from `low` to `high`, inclusive. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** Picks a value with a probability proportional to its weight. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    let left = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    return choices[choices.length - 1]?.[0] as T;
  }
}
