import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { RequestOptions } from '../../port.ts';
import { asId, asList, asRecord, asText, readAs } from '../form.ts';
import { byName, NameCache } from '../name-cache.ts';
import type { TrytonConnection } from './connection.ts';
import { asDate, asDateOrNull, asFlag, asTextOrNull, related, relatedList } from './wire.ts';

/** What is kept of the ERP's names: for a minute, so that what somebody corrects there counts soon. */
const namesKeptMs = 60_000;
const partiesKeptMs = 600_000;
const mostNames = 10_000;

/** Records of one answer. */
export const pageSize = 500;

export interface TrytonAccount {
  id: number;
  code: string;
  name: string;
  /** Null for a heading, which takes no lines. */
  type: { statement: string; receivable: boolean; payable: boolean } | null;
  isClosed: boolean;
  partyRequired: boolean;
  reconcile: boolean;
  /** Days on which it takes lines; null: no limit. */
  from: CalendarDate | null;
  through: CalendarDate | null;
  hasSecondCurrency: boolean;
}

export interface TrytonPeriod {
  id: number;
  name: string;
  from: CalendarDate;
  through: CalendarDate;
  isOpen: boolean;
}

export interface TrytonParty {
  id: number;
  name: string;
  isActive: boolean;
}

export interface Named {
  id: number;
  isActive: boolean;
}

/** Analytic accounts by `<root>\n<code>`; those that do not take lines are not active. */
export type AnalyticName = `${string}\n${string}`;

/** The company whose names they are. */
export type CompanyOf = (request: RequestOptions) => Promise<{ companyId: number; context: JsonObject }>;

/** Looks up what entries name: accounts, journals, taxes, analytic accounts, parties and periods of one company. */
export class TrytonNames {
  readonly #connection: TrytonConnection;
  readonly #company: CompanyOf;
  readonly #clock: Clock;
  readonly #accounts: NameCache<TrytonAccount>;
  readonly #journals: NameCache<Named>;
  readonly #taxes: NameCache<Named>;
  readonly #analytic: NameCache<Named>;
  readonly #parties: NameCache<TrytonParty>;
  readonly #ourParties: NameCache<TrytonParty>;
  #periods: { list: TrytonPeriod[]; until: number } | null = null;

  constructor(connection: TrytonConnection, company: CompanyOf, clock: Clock) {
    this.#connection = connection;
    this.#company = company;
    this.#clock = clock;
    const names = { maxAgeMs: namesKeptMs, most: mostNames };
    const parties = { maxAgeMs: partiesKeptMs, most: mostNames };
    this.#accounts = new NameCache(clock, names);
    this.#journals = new NameCache(clock, names);
    this.#taxes = new NameCache(clock, names);
    this.#analytic = new NameCache(clock, names);
    this.#parties = new NameCache(clock, parties);
    this.#ourParties = new NameCache(clock, parties);
  }

  /** Forgets everything: what was looked up may have changed. */
  clear(): void {
    for (const cache of [
      this.#accounts,
      this.#journals,
      this.#taxes,
      this.#analytic,
      this.#parties,
      this.#ourParties,
    ]) {
      cache.clear();
    }
    this.#periods = null;
  }

  async accounts(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, TrytonAccount[]>> {
    const { companyId } = await this.#company(request);
    return this.#accounts.get(codes, async (missing) =>
      byName(
        await this.#search(
          'account.account',
          [
            ['code', 'in', missing],
            ['company', '=', companyId],
          ],
          accountFields,
          request,
        ),
        (record) => asText(record.code),
        accountOf,
      ),
    );
  }

  async journals(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    return this.#journals.get(codes, async (missing) =>
      byName(
        await this.#search('account.journal', [['code', 'in', missing]], ['code', 'active'], request),
        (record) => asText(record.code),
        namedOf,
      ),
    );
  }

  /** By the tax's name: a tax of Tryton has no code. */
  async taxes(names: Iterable<string>, request: RequestOptions): Promise<Map<string, Named[]>> {
    const { companyId } = await this.#company(request);
    return this.#taxes.get(names, async (missing) =>
      byName(
        await this.#search(
          'account.tax',
          [
            ['name', 'in', missing],
            ['company', '=', companyId],
          ],
          ['name', 'active'],
          request,
        ),
        (record) => asText(record.name),
        namedOf,
      ),
    );
  }

  async analyticAccounts(names: Iterable<AnalyticName>, request: RequestOptions): Promise<Map<string, Named[]>> {
    const { companyId } = await this.#company(request);
    return this.#analytic.get(names, async (missing) => {
      const codes = [...new Set(missing.map((name) => name.slice(name.indexOf('\n') + 1)))];
      const domain = [
        ['code', 'in', codes],
        ['company', '=', companyId],
      ];
      const fields = ['code', 'type', 'active', 'root.name'];
      return byName(
        await this.#search('analytic_account.account', domain, fields, request),
        (record) => `${asText(related(record, 'root')?.name ?? '')}\n${asText(record.code)}`,
        (record) => ({ id: asId(record.id), isActive: asFlag(record.active) && record.type === 'normal' }),
      );
    });
  }

  /** Parties by their own code. */
  async parties(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, TrytonParty[]>> {
    return this.#parties.get(codes, async (missing) =>
      byName(
        await this.#search('party.party', [['code', 'in', missing]], ['code', 'name', 'active'], request),
        (record) => asText(record.code),
        partyOf,
      ),
    );
  }

  /** Parties by our id, which is an identifier of theirs. */
  async ourParties(codes: Iterable<string>, request: RequestOptions): Promise<Map<string, TrytonParty[]>> {
    return this.#ourParties.get(codes, async (missing) => {
      const wanted = new Set(missing);
      const domain = [['identifiers.code', 'in', missing]];
      const found = await this.#search('party.party', domain, ['name', 'active', 'identifiers.code'], request);
      const byCode = new Map<string, TrytonParty[]>();
      for (const record of found) {
        const codesOf = readAs(
          record,
          () => new Set(relatedList(record, 'identifiers').map(({ code }) => asText(code ?? null))),
        );
        for (const code of codesOf) {
          if (!wanted.has(code)) continue;
          byCode.set(code, [...(byCode.get(code) ?? []), readAs(record, () => partyOf(record))]);
        }
      }
      return byCode;
    });
  }

  /** The periods as they are now. */
  readPeriods(request: RequestOptions): Promise<TrytonPeriod[]> {
    this.#periods = null;
    return this.periods(request);
  }

  /** The company's periods, without those for adjustments, which overlap the others. */
  async periods(request: RequestOptions): Promise<TrytonPeriod[]> {
    const now = this.#clock.elapsed();
    if (this.#periods !== null && this.#periods.until > now) return this.#periods.list;
    const { companyId } = await this.#company(request);
    const domain = [
      ['fiscalyear.company', '=', companyId],
      ['type', '=', 'standard'],
    ];
    const fields = ['name', 'start_date', 'end_date', 'state', 'fiscalyear.state'];
    const found = await this.#search('account.period', domain, fields, request);
    const list = found.map((record) =>
      readAs(record, () => ({
        id: asId(record.id),
        name: asText(record.name),
        from: asDate(record.start_date ?? null),
        through: asDate(record.end_date ?? null),
        isOpen: record.state === 'open' && related(record, 'fiscalyear')?.state === 'open',
      })),
    );
    this.#periods = { list, until: now + namesKeptMs };
    return list;
  }

  /** All records of a domain, inactive ones too, page by page. */
  async #search(model: string, domain: JsonValue[], fields: string[], request: RequestOptions): Promise<JsonObject[]> {
    const { context } = await this.#company(request);
    const found: JsonObject[] = [];
    for (;;) {
      const params = [domain, found.length, pageSize, [['id', 'ASC']], fields, { ...context, active_test: false }];
      const page = readAs(
        await this.#connection.call('reads', `model.${model}.search_read`, params, request),
        (value) => asList(value).map(asRecord),
      );
      found.push(...page);
      if (page.length < pageSize) return found;
    }
  }
}

const accountFields = [
  ...['code', 'name', 'closed', 'active', 'party_required', 'reconcile', 'start_date', 'end_date', 'second_currency'],
  ...['type.statement', 'type.receivable', 'type.payable'],
];

function accountOf(record: JsonObject): TrytonAccount {
  const type = related(record, 'type');
  return {
    id: asId(record.id),
    code: asText(record.code),
    name: asText(record.name),
    type:
      type === null
        ? null
        : {
            statement: asText(type.statement),
            receivable: asFlag(type.receivable ?? null),
            payable: asFlag(type.payable ?? null),
          },
    isClosed: asFlag(record.closed ?? null),
    partyRequired: asFlag(record.party_required ?? null),
    reconcile: asFlag(record.reconcile ?? null),
    from: asDateOrNull(record.start_date ?? null),
    through: asDateOrNull(record.end_date ?? null),
    hasSecondCurrency: record.second_currency !== null && record.second_currency !== undefined,
  };
}

function namedOf(record: JsonObject): Named {
  return { id: asId(record.id), isActive: asFlag(record.active ?? null) };
}

function partyOf(record: JsonObject): TrytonParty {
  return {
    id: asId(record.id),
    name: asTextOrNull(record.name ?? null) ?? '',
    isActive: asFlag(record.active ?? null),
  };
}
