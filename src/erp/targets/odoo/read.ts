import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, KeyedQuery, LinesOnly, RequestOptions } from '../../port.ts';
import type { ErpReader, KeyLookUp, LineState } from '../api/erp-api.ts';
import { asId, asList, asRecord, idOf, readAs } from '../api/form.ts';
import { anyKey, keyedLike, keyText } from '../api/keyed-text.ts';
import { allOf, pageById, pagesById, partsOf, withoutGone } from '../api/pages.ts';
import type { OdooCalls } from './calls.ts';
import { externalIdsOf, findExternalIds, maySearch, moveIdOf } from './external-ids.ts';
import { analyticIdsIn, distributionIn, foundEntries, lineState, numberAndState, readFields } from './moves.ts';
import type { OdooNames } from './names.ts';
import { asAmount, asDate, asReference, asTextOrNull, toDateTime } from './wire.ts';

const movesPerPage = 100;
/** Maximum number of lines in an answer: about 500 kB. */
const linesPerPage = 1_000;
const firstWithoutReadGroup = 19;
const move = 'account.move';

/** Reads moves, their lines and the books of the company. Each method throws ErpError. */
export class OdooReader implements ErpReader {
  readonly #calls: OdooCalls;
  readonly #names: OdooNames;

  constructor(calls: OdooCalls, names: OdooNames) {
    this.#calls = calls;
    this.#names = names;
  }

  /**
   * Reads moves by id; missing ones are left out. With `only`, it reads the lines of these accounts, without VAT and
   * dimensions.
   */
  read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    return this.#read(
      ids.map((id) => idOf('Odoo', id)),
      request,
      only,
    );
  }

  async #read(ids: readonly number[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    const found: FoundEntry[] = [];
    for (const part of partsOf(ids, movesPerPage)) {
      const moves = await this.#page([['id', 'in', part]], 0, request);
      found.push(...(await this.#withLines(moves, request, only)));
    }
    return found;
  }

  /**
   * Looks up by external id if the user may search those, and by the key in the reference. A move may lack our external
   * id, because another user imported it, or because the id was deleted.
   */
  async lookUps(request: RequestOptions): Promise<KeyLookUp[]> {
    const byId: KeyLookUp = async (keys, lookUpRequest) => {
      const wanted = keys.map(({ key }) => moveIdOf(key));
      return this.#read([...(await findExternalIds(this.#calls, move, wanted, lookUpRequest)).values()], lookUpRequest);
    };
    const likely: KeyLookUp = (keys, lookUpRequest) => this.likely(keys, lookUpRequest);
    // Only a search of all moves proves that an entry is missing. The search takes longer the more moves there are.
    const all: KeyLookUp = (keys, lookUpRequest) => this.#byReference(keys, [], lookUpRequest);
    // A user may change a reference, but not an external id. Without the right to search, external ids need one request
    // each, so they come last.
    return (await maySearch(this.#calls, request)) ? [byId, likely, all] : [likely, all, byId];
  }

  /** Searches by reference in the likely places: the entry's dates and the drafts. */
  likely(keys: Parameters<KeyLookUp>[0], request: RequestOptions): Promise<FoundEntry[]> {
    const dates = [...new Set(keys.flatMap((key) => key.dates))];
    return this.#byReference(keys, ['|', ['date', 'in', dates], ['state', '=', 'draft']], request);
  }

  #byReference(keys: Parameters<KeyLookUp>[0], domain: JsonValue[], request: RequestOptions): Promise<FoundEntry[]> {
    const texts = keys.map(({ key }) => ['ref', 'like', keyText(key)]);
    return allOf(this.#moves([...domain, ...texts.slice(1).map(() => '|'), ...texts], request));
  }

  /** Moves whose reference names a unit of the installation and has a key of our form, without their lines. */
  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): ReturnType<ErpReader['keyed']> {
    const { companyId } = await this.#calls.company(request);
    const domain: JsonValue[] = [
      ['company_id', '=', companyId],
      ['ref', '=like', keyedLike(installation)],
      ...(changedSince === null ? [] : [['write_date', '>=', toDateTime(changedSince)]]),
    ];
    const fields = ['name', 'state', 'date', 'ref'];
    const moves = await this.#calls.page(move, { domain, fields, after: Number(after ?? 0) }, request);
    return readAs(null, () =>
      pageById(
        moves.map((record) => ({
          id: String(asId(record.id)),
          text: asTextOrNull(record.ref ?? null) ?? '',
          ...numberAndState(record),
          date: asDate(record.date),
        })),
      ),
    );
  }

  async lines(ids: readonly string[], request: RequestOptions): Promise<LineState[]> {
    const { decimals } = await this.#calls.company(request);
    const domain = [['id', 'in', ids.map((id) => idOf('Odoo', id))]];
    const fields = ['balance', 'amount_residual', 'full_reconcile_id', 'parent_state'];
    const lines = await this.#calls.all('account.move.line', { domain, fields }, request);
    return readAs(null, () => lines.map((line) => lineState(line, decimals)));
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const { companyId, decimals } = await this.#calls.company(request);
    const own: JsonValue[] = [['company_id', '=', companyId], ...datedIn(range)];
    const groups = await this.#sums([['parent_state', '=', 'posted'], ['account_id', '!=', false], ...own], request);
    const codes = await this.#names.accountCodes(
      groups.map(({ account }) => account),
      request,
    );
    const balances = new Map<string, string>();
    for (const { account, balance } of groups) {
      const amount = readAs(balance, (value) => asAmount(value, decimals));
      if (!amount.isZero()) balances.set(codes.get(account) || `#${account}`, amount.toFixed());
    }
    const call = { model: move, method: 'search_count', args: { domain: [['state', '=', 'posted'], ...own] } };
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
   * Posted and cancelled moves with a key of ours or a line on one of the accounts, by id. With `changedSince`, only
   * moves that were written since then, or one of whose lines was: Odoo allows changes to both after posting.
   */
  async *entries(which: Parameters<ErpBooks['entries']>[0], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    const found = await this.#names.accounts(which.accounts, request);
    const accountIds = [...found.values()].flat().map(({ id }) => id);
    yield* this.#moves(
      [
        ['state', 'in', ['posted', 'cancel']],
        ...datedIn(which),
        ...(accountIds.length === 0 ? [] : ['|', ['line_ids.account_id', 'in', accountIds]]),
        ['ref', '=like', anyKey],
        ...writtenSince(which.changedSince),
      ],
      request,
    );
  }

  /** Reversals that Odoo made name their origin. A duplicate only has our lines and the same journal. */
  async *copies(
    which: Parameters<NonNullable<ErpBooks['copies']>>[0],
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    const found = await this.#names.journals(which.journals, request);
    const journalIds = [...found.values()].flat().map(({ id }) => id);
    yield* this.#moves(
      [
        ['state', '=', 'posted'],
        ['move_type', '=', 'entry'],
        ...datedIn(which),
        ...['|', ['reversed_entry_id', '!=', false], ['journal_id', 'in', journalIds]],
        // A negated pattern does not match empty references in Odoo, so they need a separate condition.
        ...['|', ['ref', '=', false], '!', ['ref', '=like', anyKey]],
        ...writtenSince(which.changedSince),
      ],
      request,
    );
  }

  /** Pages of the company's moves that match a domain, by id. */
  async *#moves(domain: JsonValue[], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for await (const moves of pagesById(movesPerPage, (after) => this.#page(domain, after, request))) {
      yield await this.#withLines(moves, request);
    }
  }

  async #page(domain: JsonValue[], after: number, request: RequestOptions): Promise<JsonObject[]> {
    const { companyId } = await this.#calls.company(request);
    const own = [['company_id', '=', companyId], ...domain];
    return this.#calls.page(move, { domain: own, fields: readFields.move, after, most: movesPerPage }, request);
  }

  async #withLines(moves: JsonObject[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    if (moves.length === 0) return [];
    const { decimals, features } = await this.#calls.company(request);
    const ids = moves.map(({ id }) => readAs(id, asId));
    const lines = await this.#linesOf(ids, request, only);
    const isPart = only !== undefined;
    const names = {
      accounts: await this.#names.accountCodes(named(lines, 'account_id'), request),
      journals: await this.#names.journalCodes(named(moves, 'journal_id'), request),
      parties: await this.#names.partyCodes(named(lines, 'partner_id'), request),
      analytic: isPart ? new Map() : await this.#names.dimensionNames(analyticIn(lines), request),
      taxes: isPart || !lines.some(saysTax) ? null : await this.#names.taxBook(request),
      externalIds: await externalIdsOf(this.#calls, move, ids, request),
    };
    const entries = readAs(null, () => foundEntries(moves, lines, { names, decimals, features }));
    if (isPart) return entries;
    return withoutGone(entries, (empty) =>
      this.#calls.all(move, { domain: [['id', 'in', empty]], fields: [] }, request),
    );
  }

  async #linesOf(moveIds: readonly number[], request: RequestOptions, only?: LinesOnly): Promise<JsonObject[]> {
    const { features } = await this.#calls.company(request);
    const domain: JsonValue[] = [['move_id', 'in', moveIds]];
    if (only !== undefined) {
      const accounts = await this.#names.accounts(only.accounts, request);
      domain.push(['account_id', 'in', [...accounts.values()].flat().map(({ id }) => id)]);
    }
    const fields = readFields.line(features);
    return this.#calls.all('account.move.line', { domain, fields, most: linesPerPage }, request);
  }
}

function datedIn({ from, through }: { from: CalendarDate; through: CalendarDate }): JsonValue[] {
  return [
    ['date', '>=', from],
    ['date', '<=', through],
  ];
}

function writtenSince(since: Date | null): JsonValue[] {
  if (since === null) return [];
  const at = toDateTime(since);
  return ['|', ['write_date', '>=', at], ['line_ids.write_date', '>=', at]];
}

function named(records: readonly JsonObject[], field: string): Set<number> {
  return readAs(null, () => new Set(records.flatMap((record) => asReference(record[field])?.id ?? [])));
}

function analyticIn(lines: readonly JsonObject[]): Set<number> {
  return new Set(
    lines.flatMap(({ analytic_distribution: distribution }) =>
      Object.keys(distributionIn(distribution)).flatMap(analyticIdsIn),
    ),
  );
}

function saysTax({ tax_tag_ids: tags, tax_line_id: tax, tax_ids: taxes }: JsonObject): boolean {
  return [tags, taxes].some((ids) => Array.isArray(ids) && ids.length > 0) || Array.isArray(tax);
}
