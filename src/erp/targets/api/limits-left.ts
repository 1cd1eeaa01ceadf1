import type { Capabilities } from '../../capabilities.ts';
import type { LimitLeft } from '../../port.ts';
import type { Answer } from './http.ts';

/** What the headers of answers state is left of the limits. The capability record names the headers. */
export class LimitsLeft {
  readonly #limits: Capabilities['pace']['limits'];
  readonly #left = new Map<number, number>();

  constructor({ limits }: Capabilities['pace']) {
    this.#limits = limits;
  }

  note({ headers = {} }: Pick<Answer, 'headers'>): void {
    for (const { per_seconds: perSeconds, left_header: name } of this.#limits) {
      const stated = name === undefined ? undefined : headers[name.toLowerCase()];
      if (typeof stated === 'string' && /^\d{1,9}$/.test(stated)) this.#left.set(perSeconds, Number(stated));
    }
  }

  /** What answers have stated since the last call. */
  take(): LimitLeft[] {
    const taken = [...this.#left].map(([perSeconds, left]) => ({ perSeconds, left }));
    this.#left.clear();
    return taken;
  }
}
