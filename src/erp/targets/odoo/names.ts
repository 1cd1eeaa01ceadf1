import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import { asId, asText, readAs, wholeNumber } from '../form.ts';
import { byName, NameCache } from '../name-cache.ts';
import { type OdooCalls, pageSize } from './calls.ts';
import { externalIdsOf, findExternalIds, maySearch, partyCodeIn, partyIdOf } from './external-ids.ts';
import { readTaxes, type TaxBook } from './taxes.ts';
import { asFlag, asIds, asReference, asTextOrNull } from './wire.ts';

/** What is kept of the ERP's names: for a minute, so that what somebody corrects there counts soon. */
const namesKeptMs = 60_000;
const partiesKeptMs = 600_000;
const mostNames = 10_000;

export interface OdooAccount {
  id: number;
  code: string;
  type: string;
  isActive: boolean;
  reconcile: boolean;
  /** Id of a currency of its own; null: the company's. */
  currencyId: number | null;
  /** Ids of the only journals that may use it; empty: all. */
  journalIds: number[];
}

export interface Named {
  id: number;
  isActive: boolean;
}

/** An analytic account by the names of its plan and its own code. */
export type AnalyticName = `${string}\n${string}`;

/** Looks up what entries name, by name and by id: accounts, journals, taxes, analytic accounts and partners of one company. */
export class OdooNames {
  readonly #calls: OdooCalls;
  readonly #clock: Clock;
  readonly #accounts: NameCache<OdooAccount>;
  readonly #journals: NameCache<Named>;
  readonly #analytic: NameCache<Named>;
  readonly #parties: NameCache<Named>;
  readonly #ourParties: NameCache<Named>;
  readonly #codes: Record<'account' | 'journal' | 'analytic' | 'party', NameCache<string>>;
  #taxes: { book: TaxBook; until: number } | null = null;

  constructor(calls: OdooCalls, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
    const names = { maxAgeMs: namesKeptMs, most: mostNames };
    const parties = { maxAgeMs: partiesKeptMs, most: mostNames };
    this.#accounts = new NameCache(clock, names);
    this.#journals = new NameCache(clock, names);
    this.#analytic = new NameCache(clock, names);
    this.#parties = new NameCache(clock, parties);
    this.#ourParties = new NameCache(clock, parties);
    this.#codes = {
      account: new NameCache(clock, names),
      journal: new NameCache(clock, names),
      analytic: new NameCache(clock, names),
      party: new NameCache(clock, names),
    };
  }

  /** Forgets everything: what was looked up may have changed. */
  clear(): void {
    for (const cache of [this.#accounts, this.#journals, this.#analytic, this.#parties, this.#ourParties])
      cache.clear();
    for (const cache of Object.values(this.#codes)) cache.clear();
    this.#taxes = null;
  }

  accounts(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, OdooAccount[]>> {
    return this.#accounts.get(codes, async (missing) => {
      const { chain, features } = await this.#calls.company(request);
      const { accountCompany, accountState } = features;
      const domain = [
        ['code', 'in', missing],
        [accountCompany, 'in', chain],
      ];
      const fields = ['code', 'account_type', 'reconcile', 'currency_id', accountState];
      const found = await this.#all('account.account', domain, fields, request);
      const limits = features.version < firstWithoutLimits ? await this.#limits(found, request) : new Map();
      return byName(
        found,
        (record) => asText(record.code),
        (record) => ({
          id: asId(record.id),
          code: asText(record.code),
          type: asText(record.account_type),
          isActive: asFlag(record[accountState]) === (accountState === 'active'),
          reconcile: asFlag(record.reconcile),
          currencyId: asReference(record.currency_id)?.id ?? null,
          journalIds: limits.get(asId(record.id)) ?? [],
        }),
      );
    });
  }

  async #limits(accounts: readonly JsonObject[], request: RequestOptions): Promise<Map<number, number[]>> {
    const domain = [['id', 'in', accounts.map(({ id }) => id)]];
    const found = await this.#all('account.account', domain, ['allowed_journal_ids'], request);
    return readAs(null, () => new Map(found.map((each) => [asId(each.id), asIds(each.allowed_journal_ids ?? [])])));
  }

  journals(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    return this.#journals.get(codes, async (missing) => {
      const { chain } = await this.#calls.company(request);
      const domain = [
        ['code', 'in', missing],
        ['company_id', 'in', chain],
      ];
      return byName(
        await this.#all('account.journal', domain, ['code', 'active'], request),
        (record) => asText(record.code),
        namedOf,
      );
    });
  }

  /** The taxes on sales, all of them: a line tells its tax by tags. */
  async taxes(request: RequestOptions): Promise<TaxBook> {
    const now = this.#clock.elapsed();
    if (this.#taxes === null || this.#taxes.until <= now) {
      this.#taxes = { book: await readTaxes(this.#calls, request), until: now + namesKeptMs };
    }
    return this.#taxes.book;
  }

  analyticAccounts(names: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    return this.#analytic.get(names, async (missing) => {
      const { chain } = await this.#calls.company(request);
      const codes = [...new Set(missing.map((name) => name.slice(name.indexOf('\n') + 1)))];
      const domain = [
        ['code', 'in', codes],
        ['company_id', 'in', [false, ...chain]],
      ];
      return byName(
        await this.#all('account.analytic.account', domain, ['code', 'active', 'root_plan_id'], request),
        analyticName,
        namedOf,
      );
    });
  }

  /** Partners by their own reference. */
  parties(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    return this.#parties.get(codes, (missing) => this.#byReference(missing, request));
  }

  /**
   * Partners of ours by external id, which stays when somebody changes the reference, and by reference where they have none. Whoever
   * may not search external ids asks by reference first, since the others are asked for one by one.
   */
  ourParties(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    return this.#ourParties.get(codes, async (missing) => {
      const found = new Map<string, Named[]>();
      const left = () => missing.filter((code) => !found.has(code));
      const add = (parties: Map<string, Named[]>) => {
        for (const [code, its] of parties) found.set(code, its);
      };
      const byId = await maySearch(this.#calls, request);
      if (byId) add(await this.#byExternalId(left(), request));
      add(await this.#byReference(left(), request));
      if (!byId) add(await this.#byExternalId(left(), request));
      return found;
    });
  }

  async #byExternalId(codes: readonly string[], request: RequestOptions): Promise<Map<string, Named[]>> {
    const { companyId } = await this.#calls.company(request);
    const idOf = (code: string) => partyIdOf(companyId, code);
    const ids = await findExternalIds(this.#calls, 'res.partner', codes.map(idOf), request);
    if (ids.size === 0) return new Map();
    const partners = await this.#all('res.partner', [['id', 'in', [...ids.values()]]], partyFields, request);
    return readAs(null, () => {
      const byId = new Map(partners.map((partner) => [asId(partner.id), namedOf(partner)]));
      return new Map(
        codes.flatMap((code) => {
          const party = byId.get(ids.get(idOf(code)) ?? 0);
          return party === undefined ? [] : [[code, [party]] as const];
        }),
      );
    });
  }

  async #byReference(codes: readonly string[], request: RequestOptions): Promise<Map<string, Named[]>> {
    if (codes.length === 0) return new Map();
    const { chain } = await this.#calls.company(request);
    const domain = [
      ['ref', 'in', [...codes]],
      ['company_id', 'in', [false, ...chain]],
    ];
    return byName(
      await this.#all('res.partner', domain, partyFields, request),
      (record) => asText(record.ref),
      namedOf,
    );
  }

  /** Codes of accounts by id. */
  accountCodes(ids: Iterable<number>, request: RequestOptions): Promise<Map<number, string>> {
    return this.#named('account', ids, 'account.account', ['code'], ({ code }) => asTextOrNull(code) ?? '', request);
  }

  journalCodes(ids: Iterable<number>, request: RequestOptions): Promise<Map<number, string>> {
    return this.#named('journal', ids, 'account.journal', ['code'], ({ code }) => asTextOrNull(code) ?? '', request);
  }

  /** Names of analytic accounts by id. */
  analyticNames(ids: Iterable<number>, request: RequestOptions): Promise<Map<number, string>> {
    return this.#named('analytic', ids, 'account.analytic.account', ['code', 'root_plan_id'], analyticName, request);
  }

  /**
   * Codes of partners by id: ours by external id, others by their reference, those without one by their name in brackets. A partner
   * of ours has several where somebody merged contacts in Odoo, which keeps the external ids of both.
   */
  async partyCodes(ids: Iterable<number>, request: RequestOptions): Promise<Map<number, string[]>> {
    const codes = await this.#codes.party.get([...ids].map(String), async (missing) => {
      const wanted = missing.map(wholeNumber);
      const ours = await externalIdsOf(this.#calls, 'res.partner', wanted, request);
      const found = await this.#all('res.partner', [['id', 'in', wanted]], partyFields, request);
      return readAs(null, () => new Map(found.map((partner) => [String(asId(partner.id)), codesOf(partner, ours)])));
    });
    return new Map([...codes].map(([id, its]) => [wholeNumber(id), its]));
  }

  async #named(
    kind: 'account' | 'journal' | 'analytic',
    ids: Iterable<number>,
    model: string,
    fields: string[],
    nameOf: (record: JsonObject) => string,
    request: RequestOptions,
  ): Promise<Map<number, string>> {
    return byNumber(
      await this.#codes[kind].get([...ids].map(String), async (missing) => {
        const found = await this.#all(model, [['id', 'in', missing.map(wholeNumber)]], fields, request);
        return readAs(null, () => new Map(found.map((record) => [String(asId(record.id)), [nameOf(record)]])));
      }),
    );
  }

  #all(model: string, domain: JsonValue[], fields: string[], request: RequestOptions): Promise<JsonObject[]> {
    return this.#calls.all(model, { domain, fields, most: pageSize }, request);
  }
}

const firstWithoutLimits = 19;
const partyFields = ['name', 'ref', 'active'];

function namedOf(record: JsonObject): Named {
  return { id: asId(record.id), isActive: asFlag(record.active) };
}

function codesOf(partner: JsonObject, externalIds: ReadonlyMap<number, string[]>): string[] {
  const ours = (externalIds.get(asId(partner.id)) ?? []).flatMap((name) => partyCodeIn(name) ?? []);
  if (ours.length > 0) return [...new Set(ours)].toSorted();
  return [asTextOrNull(partner.ref) ?? `[${asTextOrNull(partner.name) ?? asId(partner.id)}]`];
}

function analyticName(record: JsonObject): AnalyticName {
  return `${asReference(record.root_plan_id)?.name ?? ''}\n${asTextOrNull(record.code) ?? ''}`;
}

function byNumber(names: Map<string, string[]>): Map<number, string> {
  return new Map([...names].flatMap(([id, [name]]) => (name === undefined ? [] : [[wholeNumber(id), name] as const])));
}
