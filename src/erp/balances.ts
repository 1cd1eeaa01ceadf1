import { type Money, zero } from '../domain/money.ts';

/** Sums of amounts by place, such as an account. */
export class Balances {
  readonly #sums = new Map<string, Money>();

  add(place: string, amount: Money): void {
    this.#sums.set(place, (this.#sums.get(place) ?? zero).plus(amount));
  }

  get areZero(): boolean {
    return [...this.#sums.values()].every((sum) => sum.isZero());
  }
}
