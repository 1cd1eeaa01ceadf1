import type { OdooConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { zero } from '../../../domain/money.ts';
import { visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { companyOf } from '../../company.ts';
import type { Logger } from '../../deliver/slice.ts';
import type { ErpEntry, FoundEntry } from '../../entry.ts';
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
import { asId, readAs, wholeNumber } from '../form.ts';
import { OdooBooks } from './books.ts';
import { type Company, OdooCalls } from './calls.ts';
import { odooCapabilities } from './capabilities.ts';
import { checkOdoo } from './check.ts';
import { openCompany } from './company.ts';
import { OdooConnection, type OdooTransport } from './connection.ts';
import { createDrafts } from './create.ts';
import { deleteDrafts } from './drafts.ts';
import { findExternalIds, keyInExternalId, maySearch, moveIdOf } from './external-ids.ts';
import { keyedMoves } from './keyed.ts';
import { keepLines } from './load.ts';
import { readLocks } from './locks.ts';
import { describedAs, keyText } from './moves.ts';
import { OdooNames } from './names.ts';
import { MoveReader } from './read.ts';
import { asAmount, asReference, asTimeOrNull } from './wire.ts';

export interface OdooPorts {
  clock: Clock;
  log: Logger;
  /** How requests reach Odoo; absent: over HTTP. */
  transport?: OdooTransport;
}

/** Keys of one search. */
/** Of methods that return nothing in some versions: what they did is read back. */
const returnsNothing = true as const;
const keysPerSearch = 100;
const linesPerPage = 500;
/** How long a company's currency, branches and the version of its Odoo are believed. */
const companyKeptMs = 600_000;

/** An Odoo server as the target of delivery. It is not asked before the first request. */
export function openOdoo(config: OdooConfig, ports: OdooPorts): ErpTarget {
  return new OdooTarget(config, ports);
}

class OdooTarget implements ErpTarget {
  readonly capabilities = odooCapabilities;
  readonly company: ErpTarget['company'];
  readonly matching: NonNullable<ErpTarget['matching']>;
  readonly books: OdooBooks;
  readonly #config: OdooConfig;
  readonly #clock: Clock;
  readonly #connection: OdooConnection;
  readonly #calls: OdooCalls;
  readonly #names: OdooNames;
  readonly #reader: MoveReader;
  #company: { is: Company; until: number } | null = null;

  constructor(config: OdooConfig, { clock, log, transport }: OdooPorts) {
    this.#config = config;
    this.#clock = clock;
    this.company = companyOf(config);
    this.#connection = new OdooConnection(config, log, transport);
    this.#calls = new OdooCalls(this.#connection, (request) => this.#open(request));
    this.#names = new OdooNames(this.#calls, clock);
    this.#reader = new MoveReader(this.#calls, this.#names);
    this.matching = {
      match: (groups, request) => this.#match(groups, request),
      unmatch: (groups, request) => this.#unmatch(groups, request),
    };
    this.books = new OdooBooks(this.#calls, this.#names, this.#reader);
  }

  async #open(request: RequestOptions): Promise<Company> {
    const now = this.#clock.elapsed();
    if (this.#company === null || this.#company.until <= now) {
      this.#company = {
        is: await openCompany(this.#config, this.#connection, request),
        until: now + companyKeptMs,
      };
    }
    return this.#company.is;
  }

  async identify(request: RequestOptions): Promise<IdentifiedCompany> {
    const { companyId, currency } = await this.#open(request);
    return { ...this.company, id: `${this.#config.database}/${companyId}`, currency };
  }

  /**
   * By external id, where the user may search those, and by the key in the reference: the move of another user's import has no
   * external id of ours, and one whose external id was deleted has none any more.
   */
  describe(entry: ErpEntry): string {
    return describedAs(entry);
  }

  async find(
    keys: readonly KeyToFind[],
    request: RequestOptions,
  ): Promise<{ found: FoundEntry[]; isComplete: boolean }> {
    const found = new Map<string, FoundEntry>();
    const add = (entries: readonly FoundEntry[]) => {
      for (const entry of entries) found.set(entry.id, entry);
      return new Set(entries.map(({ key }) => key));
    };
    const byId = await maySearch(this.#calls, request);
    for (let at = 0; at < keys.length; at += keysPerSearch) {
      const part = keys.slice(at, at + keysPerSearch);
      const wanted = new Set(part.map(({ key }) => key));
      const seen = byId ? add(await this.#byExternalId([...wanted], request)) : new Set();
      const left = part.filter(({ key }) => !seen.has(key));
      for (const key of add(await this.#byReference(left, likelyOf(left), request))) seen.add(key);
      const missing = left.filter(({ key }) => !seen.has(key));
      // Absence is told by a search of all moves only, which takes as long as there are moves.
      for (const key of add(await this.#byReference(missing, [], request))) seen.add(key);
      // Somebody may have changed the reference; external ids stay.
      const lost = byId ? [] : missing.flatMap(({ key }) => (seen.has(key) ? [] : [key]));
      add(await this.#byExternalId(lost, request));
    }
    return { found: [...found.values()], isComplete: true };
  }

  keyed(which: KeyedQuestion, request: RequestOptions): Promise<KeyedPage> {
    return keyedMoves(this.#calls, which, request);
  }

  async #byExternalId(keys: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    const ids = await findExternalIds(this.#calls, 'account.move', keys.map(moveIdOf), request);
    return this.#reader.read([...ids.values()], request);
  }

  async #byReference(keys: readonly KeyToFind[], domain: JsonValue[], request: RequestOptions): Promise<FoundEntry[]> {
    if (keys.length === 0) return [];
    const texts = keys.map(({ key }) => ['ref', 'like', keyText(key)]);
    const found: FoundEntry[] = [];
    const any: JsonValue[] = [...texts.slice(1).map(() => '|'), ...texts];
    for await (const page of this.#reader.moves([...domain, ...any], request)) found.push(...page);
    const wanted = new Set(keys.map(({ key }) => key));
    return found.filter(({ key }) => key !== null && wanted.has(key));
  }

  async create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>> {
    const creating = {
      ...{ calls: this.#calls, names: this.#names },
      present: (sent: readonly ErpEntry[], reading: RequestOptions) => this.#present(sent, reading),
    };
    return this.#written(() => createDrafts(creating, entries, request));
  }

  /** Keys that Odoo has already; by the reference, only where their moves are likely to be. */
  async #present(entries: readonly ErpEntry[], request: RequestOptions): Promise<string[]> {
    const keys = entries.map(({ key }) => key);
    if (await maySearch(this.#calls, request)) {
      const ids = await findExternalIds(this.#calls, 'account.move', keys.map(moveIdOf), request);
      return [...ids.keys()].flatMap((id) => keyInExternalId(id) ?? []);
    }
    const wanted = entries.map(({ key, date }) => ({ key, dates: [date] }));
    return (await this.#byReference(wanted, likelyOf(wanted), request)).flatMap(({ key }) => key ?? []);
  }

  async post(ids: readonly string[], request: WriteOptions): Promise<void> {
    if (ids.length === 0) return;
    const call = {
      model: 'account.move',
      method: 'action_post',
      ids: ids.map(idOf),
      context: keepLines,
      returnsNothing,
    };
    await this.#written(() => this.#calls.call('writes', call, request));
  }

  async deleteDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    await this.#written(() => deleteDrafts(this.#calls, ids.map(idOf), request));
  }

  read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    return this.#reader.read(ids.map(idOf), request, only);
  }

  periods(request: RequestOptions): Promise<ErpPeriods> {
    return readLocks(this.#calls, request);
  }

  async #match(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void> {
    const lines = await this.#lines(groups.flat(), request);
    // Of a branch, Odoo reads settings of its parents as it matches.
    const context = { allowed_company_ids: (await this.#open(request)).usable };
    for (const group of groups) {
      const present = group.flatMap((id) => lines.get(id) ?? []);
      const refuse = (why: string) =>
        new ErpError('refused', `lines ${group.join(', ')}: ${why}`, { problem: 'erp_refused' });
      if (present.length !== group.length) throw refuse('Odoo has no such line');
      const matches = new Set(present.map(({ matched }) => matched));
      if (matches.size === 1 && !matches.has(null)) continue;
      // Odoo would match what is left of them, and not these lines with each other.
      if (present.some(({ matched, isTouched }) => matched !== null || isTouched)) {
        throw refuse('one is matched with other lines');
      }
      const left = present.reduce((balance, { amount }) => balance.plus(amount), zero);
      if (!left.isZero()) throw refuse(`they do not sum to zero (${left.toFixed()})`);
      if (present.some(({ isPosted }) => !isPosted)) throw refuse('one is not posted');
      // One group at a time: Odoo matches whatever lines of an account it is given with each other.
      const call = { model: 'account.move.line', method: 'reconcile', ids: group.map(idOf), context, returnsNothing };
      await this.#calls.call('writes', call, request);
    }
  }

  async #unmatch(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void> {
    const lines = await this.#lines(groups.flat(), request);
    const matched = [...lines].filter(([, line]) => line.matched !== null || line.isTouched).map(([id]) => idOf(id));
    if (matched.length === 0) return;
    const context = { allowed_company_ids: (await this.#open(request)).usable };
    const call = { model: 'account.move.line', method: 'remove_move_reconcile', ids: matched, context, returnsNothing };
    await this.#calls.call('writes', call, request);
  }

  async #lines(ids: readonly string[], request: RequestOptions) {
    const { decimals } = await this.#open(request);
    const found = new Map<string, LineState>();
    const fields = ['balance', 'amount_residual', 'full_reconcile_id', 'parent_state'];
    for (let at = 0; at < ids.length; at += linesPerPage) {
      const domain = [['id', 'in', ids.slice(at, at + linesPerPage).map(idOf)]];
      const records = await this.#calls.all('account.move.line', { domain, fields }, request);
      for (const record of records) {
        const { id, ...state } = readAs(record, () => lineState(record, decimals));
        found.set(id, state);
      }
    }
    return found;
  }

  async expiries(request: RequestOptions): Promise<{ name: string; at: Date }[]> {
    const { features, userId } = await this.#open(request);
    if (!features.hasKeyExpiry) return [];
    const domain = [['user_id', '=', userId]];
    const keys = await this.#calls.all('res.users.apikeys', { domain, fields: ['name', 'expiration_date'] }, request);
    return keys.flatMap(({ name, expiration_date: date }) => {
      const at = readAs(date ?? null, asTimeOrNull);
      return at === null ? [] : [{ name: typeof name === 'string' ? visible(name) : '', at }];
    });
  }

  check(plan: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult> {
    return checkOdoo({ calls: this.#calls, names: this.#names }, plan, request);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** A request that writes; what it refuses may tell that names have changed. */
  async #written<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      this.#names.clear();
      if (error instanceof ErpError && error.means === 'auth') this.#company = null;
      throw error;
    }
  }
}

interface LineState {
  matched: number | null;
  /** Matched in part. */
  isTouched: boolean;
  amount: typeof zero;
  isPosted: boolean;
}

function lineState(line: JsonObject, decimals: number): LineState & { id: string } {
  const amount = asAmount(line.balance, decimals);
  const matched = asReference(line.full_reconcile_id)?.id ?? null;
  return {
    id: String(asId(line.id)),
    matched,
    isTouched: matched === null && !asAmount(line.amount_residual, decimals).equals(amount),
    amount,
    isPosted: line.parent_state === 'posted',
  };
}

/** Where a move of ours can be at once: on one of its dates, or among the drafts. */
function likelyOf(keys: readonly { dates: readonly CalendarDate[] }[]): JsonValue[] {
  return ['|', ['date', 'in', [...new Set(keys.flatMap(({ dates }) => dates))]], ['state', '=', 'draft']];
}

/** An id of Odoo's as it goes over the wire. Throws ErpError for what is none. */
function idOf(id: string): number {
  if (!/^\d{1,15}$/.test(id))
    throw new ErpError('refused', `${visible(id)} is no id of Odoo’s`, { problem: 'erp_refused' });
  return wholeNumber(id);
}
