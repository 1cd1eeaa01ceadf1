import type { Clock } from '../../../domain/clock.ts';
import { retryAfterMs } from '../../../domain/retry-after.ts';
import type { Capabilities } from '../../capabilities.ts';
import type { RequestOptions } from '../../port.ts';
import type { Access, Answer } from './http.ts';

const tooMany = 429;
/** How often a reading request is sent again that the ERP refused because others used up a limit. */
const repeats = 3;
/** A longer wait is left to the delivery. */
const longestWaitMs = 30_000;

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

  /** Sends a request when its turn comes. A reading request waits if others have used up a limit, so the reading goes on. */
  async send(access: Access, send: () => Promise<Answer>, request: Pick<RequestOptions, 'signal'>): Promise<Answer> {
    for (let left = repeats; ; left -= 1) {
      await this.#turn(request);
      const answer = await send();
      if (answer.status !== tooMany || access === 'writes' || left === 0) return answer;
      const longest = Math.max(...this.#limits.map(({ per_seconds: seconds }) => seconds));
      const waitMs = retryAfterMs(answer.retryAfter ?? undefined, this.#clock.now()) ?? longest * 1_000;
      if (waitMs > longestWaitMs) return answer;
      await this.#clock.sleep(waitMs, request.signal);
    }
  }

  async #turn({ signal }: Pick<RequestOptions, 'signal'>): Promise<void> {
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
