import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, KeyedQuery, LinesOnly, RequestOptions } from '../../port.ts';
import type { ErpReader, KeyLookUp } from '../api/erp-api.ts';
import { asId, asText, idOf, readAs } from '../api/form.ts';
import { anyKey, keyedLike, keyText } from '../api/keyed-text.ts';
import { allOf, pageById, pagesById, partsOf, withoutGone } from '../api/pages.ts';
import type { TrytonCalls } from './calls.ts';
import { foundEntries, lineState, type MoveParts, readFields } from './moves.ts';
import type { TrytonLine } from './names.ts';
import { asDate, asDecimal, asTextOrNull, toDate, toDateTime } from './wire.ts';

const movesPerPage = 100;
/** Maximum number of lines, tax lines or analytic lines in an answer: about 500 kB. */
const partsPerPage = 2_000;
const move = 'account.move';

/** Reads moves, their lines and the books of the company. Each method throws ErpError. */
export class TrytonReader implements ErpReader {
  readonly #calls: TrytonCalls;

  constructor(calls: TrytonCalls) {
    this.#calls = calls;
  }

  /** Reads moves by id; missing ones are left out. */
  async read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    const found: FoundEntry[] = [];
    for (const part of partsOf(ids, movesPerPage)) {
      const moves = await this.#page([['id', 'in', part.map((id) => idOf('Tryton', id))]], 0, request);
      found.push(...(await this.#withLines(moves, request, only)));
    }
    return found;
  }

  /**
   * Searches the likely places first: the entry's dates, the drafts, and moves that other users changed. Then it
   * searches all moves.
   */
  async lookUps(request: RequestOptions): Promise<KeyLookUp[]> {
    const { userId } = await this.#calls.company(request);
    return [
      (keys, lookUpRequest) => {
        const dates = [...new Set(keys.flatMap((key) => key.dates))].map(toDate);
        return this.#withKeys(
          keys,
          [['OR', ['date', 'in', dates], ['state', '=', 'draft'], ['write_uid', '!=', userId]]],
          lookUpRequest,
        );
      },
      // Only a search of all moves proves that an entry is missing. The search takes longer the more moves there are.
      (keys, lookUpRequest) => this.#withKeys(keys, [], lookUpRequest),
    ];
  }

  #withKeys(keys: Parameters<KeyLookUp>[0], domain: JsonValue[], request: RequestOptions): Promise<FoundEntry[]> {
    const texts = keys.map(({ key }) => ['description', 'like', `%${keyText(key)}%`]);
    return allOf(this.#moves([...domain, ['OR', ...texts]], request));
  }

  /** Moves whose description names a unit of the installation and has a key of our form, without their lines. */
  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): ReturnType<ErpReader['keyed']> {
    const { companyId } = await this.#calls.company(request);
    const domain: JsonValue[] = [
      ['company', '=', companyId],
      ['description', 'like', keyedLike(installation)],
      ...(changedSince === null ? [] : [['OR', ...writtenSince(changedSince, [''])]]),
    ];
    const fields = ['number', 'state', 'date', 'description'];
    const moves = await this.#calls.page(move, { domain, fields, after: Number(after ?? 0) }, request);
    return readAs(null, () =>
      pageById(
        moves.map((record) => ({
          id: String(asId(record.id)),
          text: asTextOrNull(record.description ?? null) ?? '',
          number: asTextOrNull(record.number ?? null),
          state: record.state === 'posted' ? 'posted' : 'draft',
          date: asDate(record.date ?? null),
        })),
      ),
    );
  }

  async lines(ids: readonly string[], request: RequestOptions): Promise<TrytonLine[]> {
    const domain = [['id', 'in', ids.map((id) => idOf('Tryton', id))]];
    const fields = ['debit', 'credit', 'reconciliation', 'move.date', 'move.state'];
    const lines = await this.#calls.all('account.move.line', { domain, fields }, request);
    return readAs(null, () => lines.map(lineState));
  }

  async balances(
    range: Parameters<ErpBooks['balances']>[0],
    request: RequestOptions,
  ): ReturnType<ErpBooks['balances']> {
    const { companyId } = await this.#calls.company(request);
    const own = ['company', '=', companyId];
    const context = { from_date: toDate(range.from), to_date: toDate(range.through), posted: true };
    const reading = { domain: [own, ['type', '!=', null]], fields: ['code', 'balance'], context };
    const accounts = await this.#calls.all('account.account', reading, request);
    const balances = readAs(null, () =>
      accounts.flatMap((account): [string, string][] => {
        const code = account.code === null ? `#${asId(account.id)}` : asText(account.code);
        const balance = asDecimal(account.balance ?? null);
        return balance.isZero() ? [] : [[code, balance.toFixed()]];
      }),
    );
    const counted = [[own, ...postedIn(range)]];
    const count = await this.#calls.call('reads', `model.${move}.search_count`, counted, request);
    return { entries: readAs(count, asId), balances: new Map(balances) };
  }

  /**
   * Posted moves with a key of ours or a line on one of the accounts, by id. With `changedSince`, only moves that were
   * written since then, or one of whose lines, tax lines or analytic lines was: Tryton allows changes to these after
   * posting.
   */
  entries(which: Parameters<ErpBooks['entries']>[0], request: RequestOptions): AsyncIterable<FoundEntry[]> {
    const { accounts } = which;
    const named = accounts.length === 0 ? [] : [['lines.account.code', 'in', [...accounts]]];
    return this.#moves([...postedIn(which), ['OR', ['description', 'like', anyKey], ...named]], request);
  }

  /**
   * Reversals that Tryton made name their origin. A duplicate keeps our key in its description, so it is not searched
   * here.
   */
  copies(which: Parameters<NonNullable<ErpBooks['copies']>>[0], request: RequestOptions): AsyncIterable<FoundEntry[]> {
    return this.#moves([...postedIn(which), ['origin', 'like', `${move},%`]], request);
  }

  /** Pages of the company's moves that match a domain, by id. */
  async *#moves(domain: JsonValue[], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for await (const moves of pagesById(movesPerPage, (after) => this.#page(domain, after, request))) {
      yield await this.#withLines(moves, request);
    }
  }

  async #page(domain: JsonValue[], after: number, request: RequestOptions): Promise<JsonObject[]> {
    const { companyId } = await this.#calls.company(request);
    const own = [['company', '=', companyId], ...domain];
    return this.#calls.page(move, { domain: own, fields: readFields.move, after, most: movesPerPage }, request);
  }

  /** Adds the lines of moves, with their tax lines and analytic lines. With `only`, it adds some lines only. */
  async #withLines(moves: JsonObject[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    if (moves.length === 0) return [];
    const ids = moves.map(({ id }) => asId(id));
    const parts = (model: string, path: string, fields: string[], domain: JsonValue[] = []) =>
      this.#calls.all(model, { domain: [[path, 'in', ids], ...domain], fields, most: partsPerPage }, request);
    if (only !== undefined) {
      const lines = await parts('account.move.line', 'move', readFields.line, [
        ['account.code', 'in', [...only.accounts]],
      ]);
      return readAs(null, () => foundEntries(moves, { lines, taxLines: [], analyticLines: [] }));
    }
    const all: MoveParts = {
      lines: await parts('account.move.line', 'move', readFields.line),
      taxLines: await parts('account.tax.line', 'move_line.move', readFields.taxLine),
      analyticLines: await parts('analytic_account.line', 'move_line.move', readFields.analyticLine),
    };
    return withoutGone(
      readAs(null, () => foundEntries(moves, all)),
      (empty) => this.#calls.all(move, { domain: [['id', 'in', empty]], fields: [] }, request),
    );
  }
}

/** Posted in the date range, and, with `changedSince`, written since then. */
function postedIn(which: { from: CalendarDate; through: CalendarDate; changedSince?: Date | null }): JsonValue[] {
  const { from, through, changedSince = null } = which;
  return [
    ['state', '=', 'posted'],
    ['date', '>=', toDate(from)],
    ['date', '<=', toDate(through)],
    ...(changedSince === null ? [] : [['OR', ...writtenSince(changedSince)]]),
  ];
}

function writtenSince(
  since: Date,
  paths: readonly string[] = ['', 'lines.', 'lines.tax_lines.', 'lines.analytic_lines.'],
): JsonValue[] {
  const at = toDateTime(since);
  return paths.flatMap((path) => [
    [`${path}create_date`, '>=', at],
    [`${path}write_date`, '>=', at],
  ]);
}
