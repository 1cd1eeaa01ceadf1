import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { FoundEntry } from '../../entry.ts';
import type { LinesOnly, RequestOptions } from '../../port.ts';
import { asId, readAs, wholeNumber } from '../form.ts';
import type { OdooCalls } from './calls.ts';
import { externalIdsOf } from './external-ids.ts';
import { analyticIdsIn, distributionIn, foundEntries, readFields } from './moves.ts';
import type { OdooNames } from './names.ts';
import { asReference } from './wire.ts';

const movesPerPage = 100;
/** Lines of one answer: some 500 kB. */
const linesPerPage = 1_000;

/** Reads moves of the company with all that belongs to them. */
export class MoveReader {
  readonly #calls: OdooCalls;
  readonly #names: OdooNames;

  constructor(calls: OdooCalls, names: OdooNames) {
    this.#calls = calls;
    this.#names = names;
  }

  /** Moves by id; those that are gone are left out. `only`: lines of these accounts, without what they say of VAT and dimensions. */
  async read(ids: readonly number[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    const found: FoundEntry[] = [];
    for (let at = 0; at < ids.length; at += movesPerPage) {
      const domain = [['id', 'in', ids.slice(at, at + movesPerPage)]];
      found.push(...(await this.#withLines(await this.#page(domain, 0, request), request, only)));
    }
    return found;
  }

  /** The moves of a domain by id, a page at a time. */
  async *moves(domain: JsonValue[], request: RequestOptions): AsyncGenerator<FoundEntry[]> {
    for (let after = 0; ; ) {
      const moves = await this.#page(domain, after, request);
      const page = await this.#withLines(moves, request);
      if (page.length > 0) yield page;
      const last = moves.at(-1)?.id;
      if (typeof last !== 'number' || moves.length < movesPerPage) return;
      after = last;
    }
  }

  async #page(domain: JsonValue[], after: number, request: RequestOptions): Promise<JsonObject[]> {
    const { companyId } = await this.#calls.company(request);
    const own = [['company_id', '=', companyId], ...domain];
    return this.#calls.page(
      'account.move',
      { domain: own, fields: readFields.move, after, most: movesPerPage },
      request,
    );
  }

  async #withLines(moves: JsonObject[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    if (moves.length === 0) return [];
    const { decimals, features } = await this.#calls.company(request);
    const ids = moves.map(({ id }) => readAs(id, asId));
    const lines = await this.#lines(ids, request, only);
    const isPart = only !== undefined;
    const names = {
      accounts: await this.#names.accountCodes(named(lines, 'account_id'), request),
      journals: await this.#names.journalCodes(named(moves, 'journal_id'), request),
      parties: await this.#names.partyCodes(named(lines, 'partner_id'), request),
      analytic: isPart ? new Map() : await this.#names.analyticNames(analyticIn(lines), request),
      taxes: isPart || !lines.some(saysTax) ? null : await this.#names.taxes(request),
      externalIds: await externalIdsOf(this.#calls, 'account.move', ids, request),
    };
    const entries = readAs(null, () => foundEntries(moves, lines, { names, decimals, features }));
    if (isPart) return entries;
    const empty = entries.filter(({ lines: its }) => its.length === 0).map(({ id }) => wholeNumber(id));
    if (empty.length === 0) return entries;
    // Somebody may have deleted a draft after it was read and before its lines were.
    const still = await this.#calls.all('account.move', { domain: [['id', 'in', empty]], fields: [] }, request);
    const there = new Set(still.map(({ id }) => String(id)));
    return entries.filter(({ id, lines: its }) => its.length > 0 || there.has(id));
  }

  async #lines(moveIds: readonly number[], request: RequestOptions, only?: LinesOnly): Promise<JsonObject[]> {
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
