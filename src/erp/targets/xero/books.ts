import { type Money, zero } from '../../../domain/money.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';
import type { XeroReader } from './read.ts';

/**
 * The manual journals of an organisation. Invoices and payments that people enter in Xero are not among them. Each
 * method throws ErpError. A copy of a journal keeps our key in its narration, so copies need no search of their own.
 */
export class XeroBooks implements ErpBooks {
  readonly #reader: XeroReader;

  constructor(reader: XeroReader) {
    this.#reader = reader;
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const balances = new Map<string, Money>();
    let entries = 0;
    for await (const page of this.#reader.entries({ ...range, changedSince: null }, request)) {
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
    for await (const page of this.#reader.entries(which, request)) yield page.filter(({ state }) => state !== 'draft');
  }
}
