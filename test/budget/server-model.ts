/** A server's rolling window: a request counts from its arrival (inclusive) until one window later (exclusive). */
export class RollingWindow {
  readonly limit: number;
  windowMs: number;
  readonly #countsRefused: boolean;
  readonly #arrivals: { at: number; weight: number }[] = [];

  constructor(options: { limit: number; windowMs: number; countsRefused: boolean }) {
    this.limit = options.limit;
    this.windowMs = options.windowMs;
    this.#countsRefused = options.countsRefused;
  }

  used(now: number): number {
    return this.#arrivals
      .filter(({ at }) => at > now - this.windowMs && at <= now)
      .reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Returns true if the request is served, false for a 429. */
  arrive(now: number, weight: number): boolean {
    const served = this.used(now) + weight <= this.limit;
    if (served || this.#countsRefused) this.#arrivals.push({ at: now, weight });
    return served;
  }

  /** Milliseconds until `weight` has room, if no other request arrives. */
  roomAfterMs(now: number, weight: number): number {
    const leaving = [now, ...this.#arrivals.map(({ at }) => at + this.windowMs).filter((at) => at > now)];
    const at = leaving.sort((a, b) => a - b).find((moment) => this.used(moment) + weight <= this.limit);
    return (at ?? now + this.windowMs) - now;
  }
}
