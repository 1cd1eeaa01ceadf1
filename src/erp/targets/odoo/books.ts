import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { FoundEntry } from '../../entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';
import { asId, asList, asRecord, readAs } from '../form.ts';
import type { OdooCalls } from './calls.ts';
import type { OdooNames } from './names.ts';
import type { MoveReader } from './read.ts';
import { asAmount, asReference, toDateTime } from './wire.ts';

/** Any key in a reference. */
const anyKey = '%[____________________]%';
const firstWithoutReadGroup = 19;

/** Reads the books of an Odoo company: posted moves, and cancelled ones. */
export class OdooBooks implements ErpBooks {
  readonly #calls: OdooCalls;
  readonly #names: OdooNames;
  readonly #reader: MoveReader;

  constructor(calls: OdooCalls, names: OdooNames, reader: MoveReader) {
    this.#calls = calls;
    this.#names = names;
    this.#reader = reader;
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const { companyId, decimals } = await this.#calls.company(request);
    const domain = [
      ['company_id', '=', companyId],
      ['parent_state', '=', 'posted'],
      ['account_id', '!=', false],
      ...datedIn(range),
    ];
    const groups = await this.#sums(domain, request);
    const codes = await this.#names.accountCodes(
      groups.map(({ account }) => account),
      request,
    );
    const balances = new Map<string, string>();
    for (const { account, balance } of groups) {
      const amount = readAs(balance, (value) => asAmount(value, decimals));
      if (!amount.isZero()) balances.set(codes.get(account) || `#${account}`, amount.toFixed());
    }
    const counted = [['company_id', '=', companyId], ['state', '=', 'posted'], ...datedIn(range)];
    const call = { model: 'account.move', method: 'search_count', args: { domain: counted } };
    return { entries: readAs(await this.#calls.call('reads', call, request), asId), balances };
  }

  async #sums(domain: JsonValue[], request: RequestOptions): Promise<{ account: number; balance: JsonValue }[]> {
    const { features } = await this.#calls.company(request);
    const isOld = features.version < firstWithoutReadGroup;
    const call = isOld
      ? { method: 'read_group', args: { domain, fields: ['balance:sum'], groupby: ['account_id'], lazy: false } }
      : { method: 'formatted_read_group', args: { domain, groupby: ['account_id'], aggregates: ['balance:sum'] } };
    const answer = await this.#calls.call('reads', { model: 'account.move.line', ...call }, request);
    return readAs(answer, (groups) =>
      asList(groups)
        .map(asRecord)
        .map((group: JsonObject) => ({
          account: asReference(group.account_id)?.id ?? 0,
          balance: (isOld ? group.balance : group['balance:sum']) ?? null,
        })),
    );
  }

  /**
   * Posted and cancelled moves with a key of ours or a line on one of the accounts, in the order of their ids. With `changedSince`,
   * those of them that were written since, or one of whose lines was: Odoo lets people change both after posting.
   */
  async *entries(which: Parameters<ErpBooks['entries']>[0], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    const { accounts, changedSince } = which;
    const found = await this.#names.accounts(accounts, request);
    const accountIds = [...found.values()].flat().map(({ id }) => id);
    const since = changedSince === null ? null : toDateTime(changedSince);
    const domain: JsonValue[] = [
      ['state', 'in', ['posted', 'cancel']],
      ...datedIn(which),
      ...(accountIds.length === 0 ? [] : ['|', ['line_ids.account_id', 'in', accountIds]]),
      ['ref', '=like', anyKey],
      ...(since === null ? [] : ['|', ['write_date', '>=', since], ['line_ids.write_date', '>=', since]]),
    ];
    for await (const page of this.#reader.moves(domain, request)) {
      const named = new Set(accounts);
      const wanted = page.filter(({ key, lines }) => key !== null || lines.some(({ account }) => named.has(account)));
      if (wanted.length > 0) yield wanted;
    }
  }

  /** Odoo's own reversals name what they reverse; a duplicate has nothing of ours but its lines, and stands in the same journal. */
  async *copies(
    which: Parameters<NonNullable<ErpBooks['copies']>>[0],
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    const { journals, changedSince } = which;
    const found = await this.#names.journals(journals, request);
    const since = changedSince === null ? null : toDateTime(changedSince);
    const domain: JsonValue[] = [
      ['state', '=', 'posted'],
      ['move_type', '=', 'entry'],
      ...datedIn(which),
      ...[
        '|',
        ['reversed_entry_id', '!=', false],
        ['journal_id', 'in', [...found.values()].flat().map(({ id }) => id)],
      ],
      // Odoo finds no empty reference that is unlike a pattern.
      ...['|', ['ref', '=', false], '!', ['ref', '=like', anyKey]],
      ...(since === null ? [] : ['|', ['write_date', '>=', since], ['line_ids.write_date', '>=', since]]),
    ];
    for await (const page of this.#reader.moves(domain, request)) {
      const copies = page.filter(({ key }) => key === null);
      if (copies.length > 0) yield copies;
    }
  }
}

function datedIn({ from, through }: { from: string; through: string }): JsonValue[] {
  return [
    ['date', '>=', from],
    ['date', '<=', through],
  ];
}
