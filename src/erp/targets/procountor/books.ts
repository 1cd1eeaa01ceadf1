import { type Money, zero } from '../../../domain/money.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';
import { type ProcountorReader, sinceADayBefore } from './read.ts';

type Which = Parameters<ErpBooks['entries']>[0];

/**
 * The books of a company: its journals, without other types of receipts and without the VAT that Procountor computes.
 * Each method throws ErpError. A copy of a receipt keeps our key in its name, so copies need no search of their own.
 */
export class ProcountorBooks implements ErpBooks {
  readonly #reader: ProcountorReader;

  constructor(reader: ProcountorReader) {
    this.#reader = reader;
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const balances = new Map<string, Money>();
    let entries = 0;
    for await (const page of this.#pages(range, null, request)) {
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

  async *entries({ from, through, changedSince }: Which, request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for await (const page of this.#pages({ from, through }, changedSince, request))
      yield page.filter(({ state }) => state !== 'draft');
  }

  async *#pages(
    { from, through }: Pick<Which, 'from' | 'through'>,
    changedSince: Date | null,
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    const query = {
      startDate: from,
      endDate: through,
      ...(changedSince && { versionStartDate: sinceADayBefore(changedSince) }),
    };
    for await (const page of this.#reader.receipts(query, request)) {
      const ids = page.filter(({ state }) => state !== 'draft').map(({ id }) => id);
      if (ids.length > 0) yield await this.#reader.read(ids, request);
    }
  }
}
