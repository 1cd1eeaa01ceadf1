import { type Money, zero } from '../../../domain/money.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';

/** Pages of the entries in a range of dates; with `changedSince`, only those changed since then. */
export type EntryPages = (
  which: Omit<Parameters<ErpBooks['entries']>[0], 'accounts'>,
  request: RequestOptions,
) => AsyncIterable<FoundEntry[]>;

/**
 * The books of an ERP whose entries are read and added up here. For an ERP in which a copy of an entry keeps our key, so
 * copies need no search.
 */
export class SummedBooks implements ErpBooks {
  readonly #pages: EntryPages;

  constructor(pages: EntryPages) {
    this.#pages = pages;
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const balances = new Map<string, Money>();
    let entries = 0;
    for await (const page of this.#pages({ ...range, changedSince: null }, request)) {
      for (const { state, lines } of page) {
        if (state !== 'posted') continue;
        entries += 1;
        for (const { account, amount } of lines) balances.set(account, (balances.get(account) ?? zero).plus(amount));
      }
    }
    const written = [...balances]
      .filter(([, amount]) => !amount.isZero())
      .map(([account, amount]) => [account, amount.toFixed()] as const);
    return { entries, balances: new Map(written) };
  }

  async *entries(which: Parameters<ErpBooks['entries']>[0], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for await (const page of this.#pages(which, request)) yield page.filter(({ state }) => state !== 'draft');
  }
}
