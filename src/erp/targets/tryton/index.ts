import type { TrytonConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { zero } from '../../../domain/money.ts';
import { clip, visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { InstallationId } from '../../../terms.ts';
import { companyOf } from '../../company.ts';
import type { Logger } from '../../deliver/slice.ts';
import type { ErpEntry, ErpParty, FoundEntry } from '../../entry.ts';
import {
  type CheckPlan,
  type CheckResult,
  ErpError,
  type ErpPeriods,
  type ErpTarget,
  type IdentifiedCompany,
  type KeyedPage,
  type KeyedQuestion,
  type KeyToFind,
  type LinesOnly,
  type RequestOptions,
  type WriteOptions,
} from '../../port.ts';
import { asId, asList, asRecord, asText, readAs, wholeNumber } from '../form.ts';
import type { Doing } from '../http.ts';
import { throwFirst } from '../resolved.ts';
import { TrytonBooks } from './books.ts';
import type { Company, TrytonCalls } from './calls.ts';
import { trytonCapabilities } from './capabilities.ts';
import { checkTryton } from './check.ts';
import { idsOf, TrytonConnection } from './connection.ts';
import { keyedMoves } from './keyed.ts';
import { foundEntries, keyText, type MoveParts, readFields, toMove, withoutKey } from './moves.ts';
import { TrytonNames } from './names.ts';
import { resolveEntries } from './resolve.ts';
import { asDate, asDecimal, related, toDate } from './wire.ts';

export interface TrytonPorts {
  databaseId: string;
  installation: InstallationId;
  clock: Clock;
  log: Logger;
}

const movesPerPage = 100;
/** Lines, tax lines or analytic lines of one answer: some 500 kB. */
const partsPerPage = 2_000;
/** Keys of one search. */
const keysPerSearch = 100;
const linesPerPage = 500;

/** A Tryton server as the target of delivery. It is not asked before the first request. */
export function openTryton(config: TrytonConfig, { clock, log }: TrytonPorts): ErpTarget {
  return new TrytonTarget(config, clock, log);
}

class TrytonTarget implements ErpTarget, TrytonCalls {
  readonly capabilities = trytonCapabilities;
  readonly company: ErpTarget['company'];
  readonly matching: NonNullable<ErpTarget['matching']>;
  readonly books: TrytonBooks;
  readonly #config: TrytonConfig;
  readonly #connection: TrytonConnection;
  readonly #names: TrytonNames;
  #company: Company | null = null;

  constructor(config: TrytonConfig, clock: Clock, log: Logger) {
    this.#config = config;
    this.company = companyOf(config);
    this.#connection = new TrytonConnection(config, log);
    this.#names = new TrytonNames(this.#connection, (request) => this.openCompany(request), clock);
    this.matching = {
      match: (groups, options) => this.#match(groups, options),
      unmatch: (groups, options) => this.#unmatch(groups, options),
    };
    this.books = new TrytonBooks(this);
  }

  /** The configured company, which must be one of the user's. Throws ErpError `auth` for another. */
  async openCompany(request: RequestOptions): Promise<Company> {
    if (this.#company !== null) return this.#company;
    const userId = await this.#connection.userId(request);
    const fields = ['rec_name', 'currency.code', 'currency.digits'];
    // Without a company in the context, the search finds those that the user may use.
    const found = readAs(
      await this.#connection.call(
        'reads',
        'model.company.company.search_read',
        [[], 0, null, [['id', 'ASC']], fields, { language: 'en' }],
        request,
      ),
      (value) => asList(value).map(asRecord).map(companyIn),
    );
    const usable = await this.#companiesOfUser(userId, request);
    const wanted = this.#config.company;
    const mine = found.filter(({ id }) => usable.has(id));
    const [company, ...others] = mine.filter(
      ({ id, name }) => wanted === null || String(id) === wanted || name === wanted,
    );
    const list = mine.map(({ id, name }) => `${visible(name)} (${id})`).join(', ') || 'none';
    if (company === undefined) {
      const asked = wanted === null ? 'may use no company' : `may not use the company ${visible(wanted)}`;
      throw new ErpError('auth', `the Tryton user ${this.#config.user} ${asked}; its companies: ${list}`);
    }
    if (others.length > 0) {
      throw new ErpError('auth', `erp.company must name one of the companies of the Tryton user: ${list}`);
    }
    const { id: companyId, decimals, currency } = company;
    this.#company = { companyId, userId, decimals, currency, context: { company: companyId, language: 'en' } };
    return this.#company;
  }

  async identify(request: RequestOptions): Promise<IdentifiedCompany> {
    const { companyId, currency } = await this.openCompany(request);
    return { ...this.company, id: `${this.#config.database}/${companyId}`, currency };
  }

  /** A call with the company's context. */
  async call(
    doing: Doing,
    method: string,
    params: JsonValue[],
    request: RequestOptions,
    extra: JsonObject = {},
  ): Promise<JsonValue> {
    const { context } = await this.openCompany(request);
    return this.#connection.call(doing, method, [...params, { ...context, ...extra }], request);
  }

  describe(entry: ErpEntry): string {
    return withoutKey(entry);
  }

  async find(
    keys: readonly KeyToFind[],
    request: RequestOptions,
  ): Promise<{ found: FoundEntry[]; isComplete: boolean }> {
    const { userId } = await this.openCompany(request);
    const found = new Map<string, FoundEntry>();
    for (let at = 0; at < keys.length; at += keysPerSearch) {
      const part = keys.slice(at, at + keysPerSearch);
      // Where a move of ours can be at once: on its date, or among the drafts and what others posted.
      const likely: JsonValue[] = [
        'OR',
        ['date', 'in', [...new Set(part.flatMap(({ dates }) => dates))].map(toDate)],
        ['state', '=', 'draft'],
        ['write_uid', '!=', userId],
      ];
      const here = await this.#findKeys(
        part.map(({ key }) => key),
        [likely],
        request,
      );
      for (const entry of here) found.set(entry.id, entry);
      const seen = new Set(here.map(({ key }) => key));
      // Absence is told by a search of all moves only, which takes as long as there are moves.
      const missing = part.flatMap(({ key }) => (seen.has(key) ? [] : [key]));
      for (const entry of await this.#findKeys(missing, [], request)) found.set(entry.id, entry);
    }
    return { found: [...found.values()], isComplete: true };
  }

  keyed(which: KeyedQuestion, request: RequestOptions): Promise<KeyedPage> {
    return keyedMoves(this, which, request);
  }

  async #findKeys(keys: string[], domain: JsonValue[], request: RequestOptions): Promise<FoundEntry[]> {
    if (keys.length === 0) return [];
    const { companyId } = await this.openCompany(request);
    const texts: JsonValue[] = keys.map((key) => ['description', 'like', `%${keyText(key)}%`]);
    const found: FoundEntry[] = [];
    for await (const page of this.moves([['company', '=', companyId], ...domain, ['OR', ...texts]], request)) {
      found.push(...page);
    }
    const wanted = new Set(keys);
    return found.filter(({ key }) => key !== null && wanted.has(key));
  }

  /** The moves of a domain by id, a page at a time. */
  async *moves(domain: JsonValue[], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for (let after = 0; ; ) {
      const moves = await this.#page('account.move', domain, readFields.move, movesPerPage, after, request);
      const page = await this.#withLines(moves, request);
      if (page.length > 0) yield page;
      const last = moves.at(-1);
      if (last === undefined || moves.length < movesPerPage) return;
      after = asId(last.id);
    }
  }

  /** Moves with all that belongs to them, or with some lines only. */
  async #withLines(moves: JsonObject[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    if (moves.length === 0) return [];
    const ids = moves.map(({ id }) => asId(id));
    if (only !== undefined) {
      const domain = [
        ['move', 'in', ids],
        ['account.code', 'in', [...only.accounts]],
      ];
      const lines = await this.#all('account.move.line', domain, readFields.line, request);
      return readAs(null, () => foundEntries(moves, { lines, taxLines: [], analyticLines: [] }));
    }
    const parts: MoveParts = {
      lines: await this.#all('account.move.line', [['move', 'in', ids]], readFields.line, request),
      taxLines: await this.#all('account.tax.line', [['move_line.move', 'in', ids]], readFields.taxLine, request),
      analyticLines: await this.#all(
        'analytic_account.line',
        [['move_line.move', 'in', ids]],
        readFields.analyticLine,
        request,
      ),
    };
    const entries = readAs(null, () => foundEntries(moves, parts));
    const empty = entries.filter(({ lines }) => lines.length === 0).map(({ id }) => wholeNumber(id));
    if (empty.length === 0) return entries;
    // Somebody may have deleted a draft after it was read and before its lines were.
    const still = await this.#page('account.move', [['id', 'in', empty]], [], empty.length, 0, request);
    const there = new Set(still.map(({ id }) => String(asId(id))));
    return entries.filter(({ id, lines }) => lines.length > 0 || there.has(id));
  }

  async #all(model: string, domain: JsonValue[], fields: string[], request: RequestOptions): Promise<JsonObject[]> {
    const found: JsonObject[] = [];
    for (let after = 0; ; ) {
      const page = await this.#page(model, domain, fields, partsPerPage, after, request);
      found.push(...page);
      const last = page.at(-1);
      if (last === undefined || page.length < partsPerPage) return found;
      after = asId(last.id);
    }
  }

  /** Records of a domain after an id, in the order of their ids. */
  async #page(
    model: string,
    domain: JsonValue[],
    fields: string[],
    most: number,
    after: number,
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    const params = [[['id', '>', after], ...domain], 0, most, [['id', 'ASC']], ['id', ...fields]];
    return readAs(await this.call('reads', `model.${model}.search_read`, params, request), (value) =>
      asList(value)
        .map(asRecord)
        .map((record) => ({ ...record, id: asId(record.id ?? null) })),
    );
  }

  async create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>> {
    const { companyId } = await this.openCompany(request);
    let resolved = await this.#resolve(entries, request);
    if (resolved.problems.length > 0) {
      // What is remembered may be what somebody has corrected since.
      this.#names.clear();
      resolved = await this.#resolve(entries, request);
      throwFirst(resolved.problems);
    }
    if (resolved.missingParties.size > 0) {
      await this.#createParties([...resolved.missingParties.values()], request);
      resolved = await this.#resolve(entries, request);
      throwFirst(resolved.problems);
    }
    const moves = entries.map((entry) => {
      const ids = resolved.entries.get(entry.key);
      if (ids === undefined || ids.companyId !== companyId) {
        throw new ErpError('unsent', `a party of ${visible(entry.unitId)} was made, and is not found in Tryton`);
      }
      return toMove(entry, ids);
    });
    const ids = idsOf(await this.#write('model.account.move.create', [moves], request));
    if (ids.length !== entries.length) {
      throw new ErpError('doubt', `Tryton answered ${ids.length} ids to ${entries.length} entries`);
    }
    return new Map(entries.map(({ key }, index) => [key, String(ids[index])]));
  }

  async #resolve(entries: readonly ErpEntry[], request: RequestOptions) {
    const { companyId } = await this.openCompany(request);
    return resolveEntries(entries, { names: this.#names, companyId, request });
  }

  /** Clients of ours that Tryton lacks. After a doubt they are looked up again before any is made. */
  async #createParties(parties: readonly ErpParty[], request: WriteOptions): Promise<void> {
    const values = parties.map(({ code, name }) => ({
      name: clip(visible(name?.trim() ? name : `Client ${code.split('/').at(-1)}`), longestPartyName),
      identifiers: [['create', [{ code }]]],
    }));
    await this.#write('model.party.party.create', [values], request);
  }

  async post(ids: readonly string[], request: WriteOptions): Promise<void> {
    await this.#write('model.account.move.post', [ids.map(idOf)], request);
  }

  async deleteDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    await this.#write('model.account.move.delete', [ids.map(idOf)], request);
  }

  async read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    const { companyId } = await this.openCompany(request);
    const found: FoundEntry[] = [];
    for (let at = 0; at < ids.length; at += movesPerPage) {
      const domain = [
        ['id', 'in', ids.slice(at, at + movesPerPage).map(idOf)],
        ['company', '=', companyId],
      ];
      const moves = await this.#page('account.move', domain, readFields.move, movesPerPage, 0, request);
      found.push(...(await this.#withLines(moves, request, only)));
    }
    return found;
  }

  async periods(request: RequestOptions): Promise<ErpPeriods> {
    // Read anew: what was closed a moment ago counts.
    const list = await this.#names.readPeriods(request);
    return {
      periods: list.map(({ from, through, isOpen }) => ({ from, through, isOpen, kind: 'general' })),
      lockedThrough: [],
    };
  }

  async #match(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void> {
    const { companyId } = await this.openCompany(request);
    const lines = await this.#lines(groups.flat(), request);
    const toMake: JsonObject[] = [];
    for (const group of groups) {
      const own = group.map((id) => lines.get(id));
      const present = own.flatMap((line) => (line === undefined ? [] : [line]));
      const refuse = (why: string) =>
        new ErpError('refused', `lines ${group.join(', ')}: ${why}`, { problem: 'erp_refused' });
      if (present.length !== group.length) throw refuse('Tryton has no such line');
      const matches = new Set(present.map(({ matched }) => matched));
      if (matches.size === 1 && !matches.has(null)) continue;
      // Tryton would take them out of the other reconciliation silently, and leave that one unbalanced.
      if (matches.size > 1 || !matches.has(null)) throw refuse('one is matched with other lines');
      const left = present.reduce((balance, { amount }) => balance.plus(amount), zero);
      if (!left.isZero()) throw refuse(`they do not sum to zero (${left.toFixed()})`);
      if (present.some(({ isPosted }) => !isPosted)) throw refuse('one is not posted');
      const latest =
        present
          .map(({ date }) => date)
          .toSorted()
          .at(-1) ?? '';
      toMake.push({ company: companyId, date: toDate(latest), lines: [['add', group.map(idOf)]] });
    }
    if (toMake.length > 0) await this.#write('model.account.move.reconciliation.create', [toMake], request);
  }

  /** With Tryton's wizard: the group Accounting may not delete a reconciliation, and may undo one so. */
  async #unmatch(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void> {
    const lines = await this.#lines(groups.flat(), request);
    const byMatch = new Map<string, string>();
    for (const [id, { matched }] of lines) if (matched !== null) byMatch.set(matched, id);
    const one = [...byMatch.values()].map(idOf);
    const [first] = one;
    if (first === undefined) return;
    const wizard = 'wizard.account.move.unreconcile_lines';
    const begun = await this.call('writes', `${wizard}.create`, [], request);
    const session = readAs(begun, (value) => asId(asList(value)[0] ?? null));
    const records = { active_model: 'account.move.line', active_id: first, active_ids: one };
    await this.call('writes', `${wizard}.execute`, [session, {}, 'unreconcile'], request, records);
    await this.call('writes', `${wizard}.delete`, [session], request).catch(() => {});
  }

  async #lines(ids: readonly string[], request: RequestOptions) {
    const found = new Map<string, { matched: string | null; amount: typeof zero; date: string; isPosted: boolean }>();
    const fields = ['debit', 'credit', 'reconciliation', 'move.date', 'move.state'];
    for (let at = 0; at < ids.length; at += linesPerPage) {
      const domain = [['id', 'in', ids.slice(at, at + linesPerPage).map(idOf)]];
      const params = [domain, 0, null, [['id', 'ASC']], fields];
      const records = readAs(
        await this.call('reads', 'model.account.move.line.search_read', params, request),
        (value) => asList(value).map(asRecord).map(lineState),
      );
      for (const { id, ...state } of records) found.set(id, state);
    }
    return found;
  }

  check(plan: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult> {
    return checkTryton({ target: this, names: this.#names, connection: this.#connection }, plan, request);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** A request that writes; what it refuses may tell that names have changed. */
  async #write(method: string, params: JsonValue[], request: RequestOptions): Promise<JsonValue> {
    try {
      return await this.call('writes', method, params, request);
    } catch (error) {
      this.#names.clear();
      throw error;
    }
  }

  /** Ids of the companies that the user may use. */
  async #companiesOfUser(userId: number, request: RequestOptions): Promise<Set<number>> {
    const params = [[userId], ['companies'], { language: 'en' }];
    const users = await this.#connection.call('reads', 'model.res.user.read', params, request);
    return readAs(
      users,
      (value) => new Set(asList(value).flatMap((user) => asList(asRecord(user).companies ?? null).map(asId))),
    );
  }
}

const longestPartyName = 200;

function companyIn(company: JsonObject) {
  const currency = related(company, 'currency');
  return {
    id: asId(company.id),
    name: asText(company.rec_name),
    decimals: asId(currency?.digits ?? null),
    currency: asText(currency?.code ?? null),
  };
}

function lineState(line: JsonObject) {
  const move = related(line, 'move');
  const matched = line.reconciliation ?? null;
  return {
    id: String(asId(line.id)),
    matched: matched === null ? null : String(asId(matched)),
    amount: asDecimal(line.debit ?? null).minus(asDecimal(line.credit ?? null)),
    date: asDate(move?.date ?? null),
    isPosted: move?.state === 'posted',
  };
}

/** An id of Tryton's as it goes over the wire. Throws ErpError for what is none. */
function idOf(id: string): number {
  if (!/^\d{1,15}$/.test(id))
    throw new ErpError('refused', `${visible(id)} is no id of Tryton’s`, { problem: 'erp_refused' });
  return wholeNumber(id);
}
