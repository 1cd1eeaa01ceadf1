import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import type { DimensionName, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { asId, asText, readAs, wholeNumber } from '../api/form.ts';
import { byName, KeptNames, type LookUp, partiesKeptMs } from '../api/names.ts';
import type { OdooCalls } from './calls.ts';
import { externalIdsOf, findExternalIds, maySearch, partyCodeIn, partyIdOf } from './external-ids.ts';
import { type OdooTax, readTaxes, type TaxBook } from './taxes.ts';
import { asFlag, asIds, asReference, asTextOrNull } from './wire.ts';

export interface OdooAccount {
  id: number;
  code: string;
  name: string;
  type: string;
  isActive: boolean;
  reconcile: boolean;
  /** Id of the account's fixed currency; null if it has none. */
  currencyId: number | null;
  /** Ids of the journals that may use the account; empty if all may. */
  journalIds: number[];
}

export interface OdooRecord extends NamedRecord {
  id: number;
}

export interface OdooRecords extends RecordTypes {
  account: OdooAccount;
  journal: OdooRecord;
  tax: OdooTax;
  /** An analytic account, found by its plan's name and its own code. */
  dimension: OdooRecord;
  party: OdooRecord;
}

/** Looks up codes by record id. */
type CodesById<Code> = (ids: Iterable<number>, request: RequestOptions) => Promise<Map<number, Code>>;

/** Looks up the records that entries refer to, by name and by id, in one company. */
export class OdooNames implements RecordSource<OdooRecords> {
  readonly accounts: LookUp<OdooAccount>;
  readonly journals: LookUp<OdooRecord>;
  readonly dimensions: LookUp<OdooRecord>;
  /** Partners by Odoo's reference. */
  readonly parties: LookUp<OdooRecord>;
  readonly ourParties: LookUp<OdooRecord>;
  /** All taxes on sales. The tags of a line determine its tax. */
  readonly taxBook: (request: RequestOptions) => Promise<TaxBook>;
  readonly accountCodes: CodesById<string>;
  readonly journalCodes: CodesById<string>;
  readonly dimensionNames: CodesById<string>;
  /**
   * Codes of partners: for clients from the external id, for others the reference, or the name in brackets. A client
   * has several codes if a user merged contacts in Odoo, which keeps both external ids.
   */
  readonly partyCodes: CodesById<string[]>;
  readonly #calls: OdooCalls;
  readonly #kept: KeptNames;

  constructor(calls: OdooCalls, clock: Clock) {
    this.#calls = calls;
    this.#kept = new KeptNames(clock);
    this.accounts = this.#kept.byName((codes, request) => this.#accounts(codes, request));
    this.journals = this.#kept.byName(async (codes, request) => {
      const { chain } = await calls.company(request);
      const domain = [
        ['code', 'in', codes],
        ['company_id', 'in', chain],
      ];
      const found = await calls.all('account.journal', { domain, fields: ['code', 'active'] }, request);
      return byName(found, (record) => asText(record.code), wordOf);
    });
    this.dimensions = this.#kept.byName(async (names, request) => {
      const { chain } = await calls.company(request);
      const codes = [...new Set(names.map((name) => name.slice(name.indexOf('\n') + 1)))];
      const domain = [
        ['code', 'in', codes],
        ['company_id', 'in', [false, ...chain]],
      ];
      const fields = ['code', 'active', 'root_plan_id'];
      const found = await calls.all('account.analytic.account', { domain, fields }, request);
      return byName(found, dimensionName, wordOf);
    });
    this.parties = this.#kept.byName((codes, request) => this.#byReference(codes, request), partiesKeptMs);
    this.ourParties = this.#kept.byName((codes, request) => this.#ourParties(codes, request), partiesKeptMs);
    this.taxBook = this.#kept.whole((request) => readTaxes(calls, request));
    this.accountCodes = this.#byId('account.account', ['code'], ({ code }) => asTextOrNull(code) ?? '');
    this.journalCodes = this.#byId('account.journal', ['code'], ({ code }) => asTextOrNull(code) ?? '');
    this.dimensionNames = this.#byId('account.analytic.account', ['code', 'root_plan_id'], dimensionName);
    const partyCodes = this.#kept.byName(async (ids, request) => {
      const wanted = ids.map(wholeNumber);
      const ours = await externalIdsOf(calls, 'res.partner', wanted, request);
      const found = await calls.all('res.partner', { domain: [['id', 'in', wanted]], fields: partyFields }, request);
      return readAs(null, () => new Map(found.map((partner) => [String(asId(partner.id)), codesOf(partner, ours)])));
    });
    this.partyCodes = async (ids, request) => byNumber(await partyCodes([...ids].map(String), request));
  }

  clear(): void {
    this.#kept.clear();
  }

  async taxes(names: Iterable<string>, request: RequestOptions): Promise<Map<string, OdooTax[]>> {
    const wanted = [...names];
    if (wanted.length === 0) return new Map();
    const book = await this.taxBook(request);
    return new Map(wanted.map((name) => [name, [...book.named(name)]]));
  }

  async #accounts(codes: string[], request: RequestOptions): Promise<Map<string, OdooAccount[]>> {
    const { chain, features } = await this.#calls.company(request);
    const { accountCompany, accountState } = features;
    const domain = [
      ['code', 'in', codes],
      [accountCompany, 'in', chain],
    ];
    const fields = ['code', 'name', 'account_type', 'reconcile', 'currency_id', accountState];
    const found = await this.#calls.all('account.account', { domain, fields }, request);
    const limits = features.version < firstWithoutLimits ? await this.#limits(found, request) : new Map();
    return byName(
      found,
      (record) => asText(record.code),
      (record) => ({
        id: asId(record.id),
        code: asText(record.code),
        name: asTextOrNull(record.name) ?? '',
        type: asText(record.account_type),
        isActive: asFlag(record[accountState]) === (accountState === 'active'),
        reconcile: asFlag(record.reconcile),
        currencyId: asReference(record.currency_id)?.id ?? null,
        journalIds: limits.get(asId(record.id)) ?? [],
      }),
    );
  }

  async #limits(accounts: readonly JsonObject[], request: RequestOptions): Promise<Map<number, number[]>> {
    const domain = [['id', 'in', accounts.map(({ id }) => id)]];
    const found = await this.#calls.all('account.account', { domain, fields: ['allowed_journal_ids'] }, request);
    return readAs(null, () => new Map(found.map((each) => [asId(each.id), asIds(each.allowed_journal_ids ?? [])])));
  }

  /**
   * Finds clients by external id, which stays if a user changes the reference. Clients without one are found by
   * reference. A user who may not search external ids starts with the references, because external ids then need one
   * request each.
   */
  async #ourParties(codes: readonly string[], request: RequestOptions): Promise<Map<string, OdooRecord[]>> {
    const found = new Map<string, OdooRecord[]>();
    const left = () => codes.filter((code) => !found.has(code));
    const add = (parties: Map<string, OdooRecord[]>) => {
      for (const [code, its] of parties) found.set(code, its);
    };
    const byId = await maySearch(this.#calls, request);
    if (byId) add(await this.#byExternalId(left(), request));
    add(await this.#byReference(left(), request));
    if (!byId) add(await this.#byExternalId(left(), request));
    return found;
  }

  async #byExternalId(codes: readonly string[], request: RequestOptions): Promise<Map<string, OdooRecord[]>> {
    const { companyId } = await this.#calls.company(request);
    const idOf = (code: string) => partyIdOf(companyId, code);
    const ids = await findExternalIds(this.#calls, 'res.partner', codes.map(idOf), request);
    if (ids.size === 0) return new Map();
    const partners = await this.#calls.all(
      'res.partner',
      { domain: [['id', 'in', [...ids.values()]]], fields: partyFields },
      request,
    );
    return readAs(null, () => {
      const byId = new Map(partners.map((partner) => [asId(partner.id), wordOf(partner)]));
      return new Map(
        codes.flatMap((code) => {
          const party = byId.get(ids.get(idOf(code)) ?? 0);
          return party === undefined ? [] : [[code, [party]] as const];
        }),
      );
    });
  }

  async #byReference(codes: readonly string[], request: RequestOptions): Promise<Map<string, OdooRecord[]>> {
    if (codes.length === 0) return new Map();
    const { chain } = await this.#calls.company(request);
    const domain = [
      ['ref', 'in', [...codes]],
      ['company_id', 'in', [false, ...chain]],
    ];
    return byName(
      await this.#calls.all('res.partner', { domain, fields: partyFields }, request),
      (record) => asText(record.ref),
      wordOf,
    );
  }

  #byId(model: string, fields: string[], nameOf: (record: JsonObject) => string): CodesById<string> {
    const names = this.#kept.byName(async (ids, request) => {
      const found = await this.#calls.all(model, { domain: [['id', 'in', ids.map(wholeNumber)]], fields }, request);
      return readAs(null, () => new Map(found.map((record) => [String(asId(record.id)), [nameOf(record)]])));
    });
    return async (ids, request) => {
      const found = await names([...ids].map(String), request);
      return byNumber(new Map([...found].flatMap(([id, [name]]) => (name === undefined ? [] : [[id, name]]))));
    };
  }
}

const firstWithoutLimits = 19;
const partyFields = ['name', 'ref', 'active'];

function wordOf(record: JsonObject): OdooRecord {
  return { id: asId(record.id), isActive: asFlag(record.active) };
}

function codesOf(partner: JsonObject, externalIds: ReadonlyMap<number, string[]>): string[] {
  const ours = (externalIds.get(asId(partner.id)) ?? []).flatMap((name) => partyCodeIn(name) ?? []);
  if (ours.length > 0) return [...new Set(ours)].toSorted();
  return [asTextOrNull(partner.ref) ?? `[${asTextOrNull(partner.name) ?? asId(partner.id)}]`];
}

function dimensionName(record: JsonObject): DimensionName {
  return `${asReference(record.root_plan_id)?.name ?? ''}\n${asTextOrNull(record.code) ?? ''}`;
}

function byNumber<Code>(codes: Map<string, Code>): Map<number, Code> {
  return new Map([...codes].map(([id, code]) => [wholeNumber(id), code]));
}
