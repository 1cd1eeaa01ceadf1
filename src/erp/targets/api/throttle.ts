import type { Clock } from '../../../domain/clock.ts';
import type { Capabilities } from '../../capabilities.ts';
import type { RequestOptions } from '../../port.ts';

/**
 * Spaces the requests of a target that sends several for one call. The pace of the company counts them
 * when the call ends (src/erp/erp-pace.ts).
 */
export class Throttle {
  readonly #clock: Clock;
  readonly #limits: Capabilities['pace']['limits'];
  /** When the last requests were sent, the oldest first. */
  readonly #sentMs: number[] = [];

  constructor(clock: Clock, limits: Capabilities['pace']['limits']) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Waits until a request may be sent. */
  async turn({ signal }: Pick<RequestOptions, 'signal'>): Promise<void> {
    for (;;) {
      const now = this.#clock.elapsed();
      const freeMs = Math.max(0, ...this.#limits.map((limit) => this.#freeAt(limit)));
      if (freeMs <= now) break;
      await this.#clock.sleep(freeMs - now, signal);
    }
    this.#sentMs.push(this.#clock.elapsed());
    const most = Math.max(1, ...this.#limits.map(({ n }) => n));
    if (this.#sentMs.length > most) this.#sentMs.shift();
  }

  #freeAt({ per_seconds: seconds, n }: Capabilities['pace']['limits'][number]): number {
    const nth = this.#sentMs.at(-n);
    return nth === undefined ? 0 : nth + seconds * 1_000;
  }
}
