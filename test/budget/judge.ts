import type { Scenario } from './scenario.ts';
import { RollingWindow } from './server-model.ts';

/** One request for slots, as the database received it. */
export interface Asking {
  claimant: string;
  weight: number;
  priority: number;
  /** The times at which the requests joined the queue, in order. */
  cameMs: number[];
  claimMs: number;
}

interface OwnSlot {
  weight: number;
  grantedMs: number;
  answeredMs: number | null;
  /** The time at which the database knew the answer. */
  toldMs: number | null;
  neverSent: boolean;
}

interface Claim extends Omit<Asking, 'cameMs'> {
  cameMs: number;
  askedMs: number;
}

/**
 * Compares the budget's decisions with the rules in DESIGN "Rate budget", and with a server that no other program uses.
 * It knows the real events, so it keeps no slots and expiries. Each decision must be between the least and the most
 * that the rules allow, apart from the error of clocks and statements.
 */
export class Judge {
  readonly violations: string[] = [];
  /** The server's count without other programs, which shows 429s that the budget caused. */
  readonly alone: RollingWindow;
  readonly granted: { atMs: number; weight: number }[] = [];
  readonly #scenario: Scenario;
  readonly #slots = new Map<number, OwnSlot>();
  readonly #claims = new Map<string, Claim>();
  #windowMs: number;
  #share = 1;
  #halvedMs = Number.NEGATIVE_INFINITY;
  #blockedUntilMs = Number.NEGATIVE_INFINITY;
  #changedMs = Number.NEGATIVE_INFINITY;

  constructor(scenario: Scenario, windowMs: number) {
    this.#scenario = scenario;
    this.#windowMs = windowMs;
    this.alone = new RollingWindow({ limit: scenario.limit, windowMs: this.#windowMs, countsRefused: true });
  }

  changeWindow(now: number, windowMs: number): void {
    this.#windowMs = windowMs;
    this.alone.windowMs = this.#windowMs;
    this.#changedMs = now;
  }

  arrived(now: number, weight: number, sentMs: number): void {
    // If the server changed its window, requests that were already under way do not count.
    if (!this.alone.arrive(now, weight) && sentMs > this.#changedMs) this.#object(now, 'a 429 of our own making');
  }

  /** `slotIds` were granted together, to the first requests in the queue. */
  asked(now: number, { cameMs, ...asking }: Asking, slotIds: number[]): void {
    if (slotIds.length > cameMs.length) this.#object(now, `${slotIds.length} granted to ${cameMs.length}`);
    for (const [at, slotId] of slotIds.entries()) {
      this.#granted(now, { ...asking, cameMs: cameMs[at]! }, slotId, at * asking.weight);
    }
    const next = cameMs[slotIds.length];
    if (next !== undefined) this.#refused(now, { ...asking, cameMs: next }, slotIds.length === 0);
  }

  /** `together` is the weight that the same statement granted just before. */
  #granted(now: number, asking: Omit<Claim, 'askedMs'>, slotId: number, together: number): void {
    const { weight } = asking;
    const surely = this.#ahead(now, asking, -1);
    const used = this.alone.used(now) + together;
    const mostAllowed = this.#limit(now, 1);
    if (used + surely + weight > mostAllowed && used + surely > 0) {
      this.#object(now, `granted ${weight} with ${used} used and ${surely} ahead of ${mostAllowed}`);
    }
    if (now < this.#blockedUntilMs - this.#slackMs) this.#object(now, 'granted before Retry-After');
    this.#claims.delete(asking.claimant);
    this.#slots.set(slotId, { weight, grantedMs: now, answeredMs: null, toldMs: null, neverSent: false });
    this.granted.push({ atMs: now, weight });
  }

  #refused(now: number, asking: Omit<Claim, 'askedMs'>, isFirst: boolean): void {
    const { weight } = asking;
    const perhaps = this.#ahead(now, asking, 1);
    if (isFirst) this.#claims.set(asking.claimant, { ...asking, askedMs: now });
    if (this.#changedMs >= 0 || now <= this.#blockedUntilMs + this.#slackMs) return;
    const used = this.#mostUsed(now);
    const leastAllowed = this.#limit(now, -1);
    if (used + perhaps === 0 || used + perhaps + weight <= leastAllowed) {
      this.#object(now, `refused ${weight} with at most ${used} used and ${perhaps} ahead of ${leastAllowed}`);
    }
  }

  withdrew(claimant: string): void {
    this.#claims.delete(claimant);
  }

  answered(now: number, slotId: number, neverSent: boolean): void {
    Object.assign(this.#slots.get(slotId)!, { answeredMs: now, neverSent });
  }

  told(now: number, slotIds: number[]): void {
    for (const id of slotIds) this.#slots.get(id)!.toldMs ??= now;
  }

  throttled(now: number, slotId: number, retryAfterMs: number): void {
    if (this.#slots.get(slotId)!.grantedMs > this.#halvedMs) {
      this.#share = this.#limit(now, 0) / 2 / this.#scenario.limit;
      this.#halvedMs = now;
    }
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, now + retryAfterMs);
  }

  object(now: number, what: string): void {
    this.#object(now, what);
  }

  /** The tolerance for clocks and rounding. */
  get #slackMs(): number {
    return 2 + this.#windowMs * 0.001;
  }

  #cleanWindows(now: number, lean: number): number {
    const since = now - this.#blockedUntilMs + lean * (this.#slackMs + Math.max(0, now - this.#blockedUntilMs) * 0.001);
    return Math.max(0, Math.floor(since / this.#windowMs));
  }

  /** The limit after 429s: its maximum for lean 1, its minimum for lean -1. */
  #limit(now: number, lean: number): number {
    const { limit } = this.#scenario;
    if (this.#halvedMs === Number.NEGATIVE_INFINITY) return limit;
    const share = Math.min(1, this.#share + 0.1 * this.#cleanWindows(now, lean));
    return Math.max(1, Math.floor(limit * share + 1e-9));
  }

  /** The weight of living claims that come first: certainly for lean -1, possibly for lean 1. */
  #ahead(now: number, asking: Omit<Claim, 'askedMs'>, lean: number): number {
    const doubtMs = lean * (this.#scenario.longestQueryMs + this.#slackMs);
    return [...this.#claims.values()]
      .filter(
        ({ claimant, askedMs, claimMs }) =>
          claimant !== asking.claimant && now < askedMs + claimMs + lean * this.#slackMs,
      )
      .filter(
        ({ priority, cameMs }) =>
          priority < asking.priority || (priority === asking.priority && cameMs < asking.cameMs + doubtMs),
      )
      .reduce((sum, { weight }) => sum + weight, 0);
  }

  /** The maximum weight that may still count. */
  #mostUsed(now: number): number {
    const { requestTimeoutSeconds, longestQueryMs } = this.#scenario;
    // One second is added for the grant's way to its process.
    const unansweredMs = (requestTimeoutSeconds * 1000 + this.#windowMs) * 1.001 + 1000 + 2 * this.#slackMs;
    return [...this.#slots.values()]
      .filter(({ grantedMs, answeredMs, toldMs, neverSent }) => {
        if (answeredMs === null || toldMs === null || toldMs > now) return now < grantedMs + unansweredMs;
        return !neverSent && now < answeredMs + this.#windowMs + longestQueryMs + 2 * this.#slackMs;
      })
      .reduce((sum, { weight }) => sum + weight, 0);
  }

  #object(now: number, what: string): void {
    this.violations.push(`${(now / 1000).toFixed(3)} s: ${what}`);
  }
}
