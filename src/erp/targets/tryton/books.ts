import type { JsonValue } from '../../../records/json.ts';
import type { FoundEntry } from '../../entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';
import { asId, asList, asRecord, asText, readAs } from '../form.ts';
import type { TrytonCalls } from './calls.ts';

import { asDecimal, toDate, toDateTime } from './wire.ts';

/** Accounts whose balances are asked for at once. */
const accountsPerPage = 500;

/** Reads the books of a Tryton company: posted moves only. */
export class TrytonBooks implements ErpBooks {
  readonly #target: TrytonCalls;

  constructor(target: TrytonCalls) {
    this.#target = target;
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const { companyId } = await this.#target.openCompany(request);
    const balances = new Map<string, string>();
    const byAccount = {
      from_date: toDate(range.from),
      to_date: toDate(range.through),
      posted: true,
      active_test: false,
    };
    for (let after = 0; ; ) {
      const domain = [
        ['company', '=', companyId],
        ['type', '!=', null],
        ['id', '>', after],
      ];
      const params = [domain, 0, accountsPerPage, [['id', 'ASC']], ['code', 'balance']];
      const page = readAs(
        await this.#target.call('reads', 'model.account.account.search_read', params, request, byAccount),
        (value) =>
          asList(value)
            .map(asRecord)
            .map((record) => ({
              id: asId(record.id),
              code: record.code === null ? `#${asId(record.id)}` : asText(record.code),
              balance: asDecimal(record.balance ?? null),
            })),
      );
      for (const { code, balance } of page) if (!balance.isZero()) balances.set(code, balance.toFixed());
      const last = page.at(-1);
      if (last === undefined || page.length < accountsPerPage) break;
      after = last.id;
    }
    const counted = [postedIn(companyId, range)];
    const count = await this.#target.call('reads', 'model.account.move.search_count', counted, request);
    return { entries: readAs(count, asId), balances };
  }

  /**
   * Posted moves with a key of ours or a line on one of the accounts, in the order of their ids. With `changedSince`, those of them
   * that were written since: the move, one of its lines, or a tax or analytic line of these, which can be changed after posting.
   */
  async *entries(which: Parameters<ErpBooks['entries']>[0], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    const { companyId } = await this.#target.openCompany(request);
    const { accounts, changedSince } = which;
    const domain: JsonValue[] = [
      ['company', '=', companyId],
      ['state', '=', 'posted'],
      [
        'OR',
        ['description', 'like', '%[____________________]%'],
        ...(accounts.length === 0 ? [] : [['lines.account.code', 'in', [...accounts]]]),
      ],
      ...datedIn(which),
      ...(changedSince === null ? [] : [['OR', ...writtenSince(changedSince)]]),
    ];
    for await (const page of this.#target.moves(domain, request)) {
      const named = new Set(accounts);
      const wanted = page.filter(({ key, lines }) => key !== null || lines.some(({ account }) => named.has(account)));
      if (wanted.length > 0) yield wanted;
    }
  }

  /** Tryton's own reversals that have lost our key; a copy keeps it in its description. */
  async *copies(
    which: Parameters<NonNullable<ErpBooks['copies']>>[0],
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    const { companyId } = await this.#target.openCompany(request);
    const domain: JsonValue[] = [
      ['company', '=', companyId],
      ['state', '=', 'posted'],
      ['origin', 'like', 'account.move,%'],
      ...datedIn(which),
      ...(which.changedSince === null ? [] : [['OR', ...writtenSince(which.changedSince)]]),
    ];
    for await (const page of this.#target.moves(domain, request)) {
      const copies = page.filter(({ key }) => key === null);
      if (copies.length > 0) yield copies;
    }
  }
}

function datedIn({ from, through }: { from: string; through: string }): JsonValue[] {
  return [
    ['date', '>=', toDate(from)],
    ['date', '<=', toDate(through)],
  ];
}

function postedIn(companyId: number, range: { from: string; through: string }): JsonValue[] {
  return [['company', '=', companyId], ['state', '=', 'posted'], ...datedIn(range)];
}

function writtenSince(since: Date): JsonValue[] {
  const at = toDateTime(since);
  return ['', 'lines.', 'lines.tax_lines.', 'lines.analytic_lines.'].flatMap((path) => [
    [`${path}create_date`, '>=', at],
    [`${path}write_date`, '>=', at],
  ]);
}
