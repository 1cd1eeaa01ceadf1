// Weighted limits per endpoint action over a rolling window (practice-api: Limits; field notes: Lists and filters).
// Choices of the sandbox: all applications of an installation share its limits; HEAD counts as a GET; OPTIONS counts as
// one request of `<resource>.metadata`; the token endpoint has no limit.

const perWindow: Record<string, number> = {
  'invoice.list': 60,
  'unallocatedpayment.list': 200,
  'unallocatedpayment.retrieve': 800,
  'invoicerow.list': 100,
  'invoicepayment.list': 100,
  'accountingreport.list': 100,
  'accountnumber.list': 100,
  'alternative_payer.list': 100,
  'alternativepricing.list': 100,
  'accountingreport.retrieve': 300,
  'accountnumber.retrieve': 300,
  'alternative_payer.retrieve': 300,
  'alternativepricing.retrieve': 300,
};

/** The limit of an action. An action that is not listed above gets the lowest known limit of its kind. */
export const limitOf = (action: string): number => {
  const known = perWindow[action];
  if (known !== undefined) return known;
  if (action.endsWith('.list')) return 60;
  return action.endsWith('.retrieve') ? 250 : 300;
};

interface Slot {
  at: number;
  weight: number;
}

export class RateLimits {
  readonly #windowMs: number;
  readonly #slots = new Map<string, Slot[]>();

  constructor(windowSeconds: number) {
    this.#windowMs = windowSeconds * 1000;
  }

  /**
   * Uses `weight` of the action's limit. If the limit is reached, it uses nothing and returns the seconds to wait, at
   * least 1.
   */
  take(
    action: string,
    weight: number,
    nowMs: number,
  ): { granted: true } | { granted: false; retryAfterSeconds: number } {
    const live = (this.#slots.get(action) ?? []).filter((slot) => slot.at > nowMs - this.#windowMs);
    this.#slots.set(action, live);
    const free = limitOf(action) - live.reduce((sum, slot) => sum + slot.weight, 0);
    if (weight <= free) {
      live.push({ at: nowMs, weight });
      return { granted: true };
    }
    let needed = weight - free;
    const enough = live.find((slot) => {
      needed -= slot.weight;
      return needed <= 0;
    });
    const waitMs = enough ? enough.at + this.#windowMs - nowMs : this.#windowMs;
    return { granted: false, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  }
}
