import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { RequestOptions } from '../../port.ts';
import type { LineState, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { asId, asText, readAs } from '../api/form.ts';
import { byName, KeptNames, type LookUp, partiesKeptMs } from '../api/names.ts';
import type { TrytonCalls } from './calls.ts';
import { asDate, asDateOrNull, asFlag, related, relatedList } from './wire.ts';

export interface TrytonAccount {
  id: number;
  code: string;
  name: string;
  /** The type of the account. Null for a heading, which has no lines. */
  type: { statement: string; receivable: boolean; payable: boolean } | null;
  isClosed: boolean;
  partyRequired: boolean;
  reconcile: boolean;
  /** First and last day on which the account may be used; null for no limit. */
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

interface TrytonRecord extends NamedRecord {
  id: number;
}

/** A line as matching reads it, with the date of its move. */
export interface TrytonLine extends LineState {
  date: CalendarDate;
}

export interface TrytonRecords extends RecordTypes {
  account: TrytonAccount;
  journal: TrytonRecord;
  /** Tryton's taxes have no code, so they are found by name. */
  tax: TrytonRecord;
  /**
   * An analytic account, found by its root's name and its own code. An account that accepts no lines counts as
   * inactive.
   */
  dimension: TrytonRecord;
  party: TrytonRecord;
  line: TrytonLine;
}

/** Looks up the records that entries refer to, in one company. */
export class TrytonNames implements RecordSource<TrytonRecords> {
  readonly accounts: LookUp<TrytonAccount>;
  readonly journals: LookUp<TrytonRecord>;
  readonly taxes: LookUp<TrytonRecord>;
  readonly dimensions: LookUp<TrytonRecord>;
  readonly parties: LookUp<TrytonRecord>;
  /** Clients by our id, which is an identifier of the party. */
  readonly ourParties: LookUp<TrytonRecord>;
  /** The company's periods. Adjustment periods are left out, because they overlap the others. */
  readonly periods: (request: RequestOptions) => Promise<TrytonPeriod[]>;
  readonly #calls: TrytonCalls;
  readonly #kept: KeptNames;

  constructor(calls: TrytonCalls, clock: Clock) {
    this.#calls = calls;
    this.#kept = new KeptNames(clock);
    const known = (model: string, field: string, keptMs?: number) =>
      this.#kept.byName(async (missing, request) => {
        const found = await this.#search(model, [[field, 'in', missing]], [field, 'active'], request);
        return byName(found, (record) => asText(record[field] ?? null), wordOf);
      }, keptMs);
    this.accounts = this.#kept.byName(async (missing, request) => {
      const found = await this.#search('account.account', [['code', 'in', missing]], accountFields, request);
      return byName(found, (record) => asText(record.code), accountOf);
    });
    this.journals = known('account.journal', 'code');
    this.taxes = known('account.tax', 'name');
    this.dimensions = this.#kept.byName(async (missing, request) => {
      const codes = [...new Set(missing.map((name) => name.slice(name.indexOf('\n') + 1)))];
      const fields = ['code', 'type', 'active', 'root.name'];
      return byName(
        await this.#search('analytic_account.account', [['code', 'in', codes]], fields, request),
        (record) => `${asText(related(record, 'root')?.name ?? '')}\n${asText(record.code)}`,
        (record) => ({ id: asId(record.id), isActive: asFlag(record.active) && record.type === 'normal' }),
      );
    });
    this.parties = known('party.party', 'code', partiesKeptMs);
    this.ourParties = this.#kept.byName(async (missing, request) => {
      const fields = ['active', 'identifiers.code'];
      const found = await this.#search('party.party', [['identifiers.code', 'in', missing]], fields, request);
      const wanted = new Set(missing);
      const byCode = new Map<string, TrytonRecord[]>();
      for (const record of found) {
        const codes = readAs(record, () => relatedList(record, 'identifiers').map(({ code }) => asText(code ?? null)));
        for (const code of new Set(codes)) {
          if (!wanted.has(code)) continue;
          byCode.set(code, [...(byCode.get(code) ?? []), readAs(record, () => wordOf(record))]);
        }
      }
      return byCode;
    }, partiesKeptMs);
    this.periods = this.#kept.whole((request) => this.readPeriods(request));
  }

  clear(): void {
    this.#kept.clear();
  }

  /** Reads the periods without the cache. */
  async readPeriods(request: RequestOptions): Promise<TrytonPeriod[]> {
    const fields = ['name', 'start_date', 'end_date', 'state', 'fiscalyear.state'];
    const found = await this.#search('account.period', [['type', '=', 'standard']], fields, request);
    return found.map((record) =>
      readAs(record, () => ({
        id: asId(record.id),
        name: asText(record.name),
        from: asDate(record.start_date ?? null),
        through: asDate(record.end_date ?? null),
        isOpen: record.state === 'open' && related(record, 'fiscalyear')?.state === 'open',
      })),
    );
  }

  /** All records that match a domain. Records of models with a company are limited to the configured one. */
  async #search(model: string, domain: JsonValue[], fields: string[], request: RequestOptions): Promise<JsonObject[]> {
    const { companyId } = await this.#calls.company(request);
    const company = companyFields[model];
    const own = company === undefined ? [] : [[company, '=', companyId]];
    return this.#calls.all(model, { domain: [...domain, ...own], fields }, request);
  }
}

const companyFields: Record<string, string> = {
  'account.account': 'company',
  'account.tax': 'company',
  'analytic_account.account': 'company',
  'account.period': 'fiscalyear.company',
};

const accountFields = [
  ...['code', 'name', 'closed', 'active', 'party_required', 'reconcile', 'start_date', 'end_date', 'second_currency'],
  ...['type.statement', 'type.receivable', 'type.payable'],
];

function accountOf(record: JsonObject): TrytonAccount {
  const type = related(record, 'type');
  return {
    id: asId(record.id),
    code: asText(record.code),
    name: asText(record.name ?? ''),
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

function wordOf(record: JsonObject): TrytonRecord {
  return { id: asId(record.id), isActive: asFlag(record.active ?? null) };
}
