import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { RequestOptions } from '../../port.ts';
import type { LineState, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { asId, asText, readAs } from '../api/form.ts';
import { KeptNames, type LookUp } from '../api/names.ts';
import { type DimensionField, dimensionFields, vatCodes } from './codes.ts';
import type { FortnoxConnection } from './connection.ts';
import { type FinancialYear, FinancialYears, yearsOf } from './years.ts';

type Setting = 'ALLOWED' | 'MANDATORY' | 'NOTALLOWED';

/** An account in the chart of one financial year. */
export interface YearsAccount {
  year: FinancialYear;
  isActive: boolean;
  vatCode: string | null;
  settings: Record<DimensionField, Setting>;
  /** Values that Fortnox puts on lines that name none. */
  proposed: Partial<Record<DimensionField, string>>;
}

export interface FortnoxAccount {
  code: string;
  name: string;
  /** Fortnox matches no lines of vouchers. */
  reconcile: false;
  years: YearsAccount[];
}

export interface FortnoxRecords extends RecordTypes {
  account: FortnoxAccount;
  /** A voucher series. It is active if it takes vouchers in every year that was asked for. */
  journal: NamedRecord;
  tax: NamedRecord;
  dimension: NamedRecord & { field: DimensionField };
  party: NamedRecord;
  line: LineState;
}

type Days = Iterable<CalendarDate>;

/** Looks up the records that entries refer to. Charts and series belong to a financial year, and are read as a whole. */
export class FortnoxNames implements RecordSource<FortnoxRecords> {
  readonly years: FinancialYears;
  readonly dimensions: LookUp<FortnoxRecords['dimension']>;
  readonly #kept: KeptNames;
  readonly #charts: (years: FinancialYear[], request: RequestOptions) => Promise<Map<string, FortnoxAccount>>;
  readonly #series: (year: FinancialYear, request: RequestOptions) => Promise<JsonObject[]>;

  constructor(connection: FortnoxConnection, clock: Clock) {
    this.#kept = new KeptNames(clock);
    this.years = new FinancialYears(connection, this.#kept);
    const ofYear = (path: string, name: string) => {
      const lists = this.#kept.byName<JsonObject[]>(async ([year = ''], request) => {
        const records = await connection.list(path, name, { financialyear: year }, request);
        return new Map([[year, [records]]]);
      });
      return async ({ id }: FinancialYear, request: RequestOptions) => {
        const found = await lists([String(id)], request);
        return found.get(String(id))?.[0] ?? [];
      };
    };
    const chart = ofYear('/3/accounts', 'Accounts');
    this.#series = ofYear('/3/voucherseries', 'VoucherSeriesCollection');
    this.#charts = async (years, request) => {
      const accounts = new Map<string, FortnoxAccount>();
      for (const year of years) for (const record of await chart(year, request)) addAccount(accounts, record, year);
      return accounts;
    };
    const values = {
      CostCenter: this.#kept.whole((request) => connection.list('/3/costcenters', 'CostCenters', {}, request)),
      Project: this.#kept.whole((request) => connection.list('/3/projects', 'Projects', {}, request)),
    };
    this.dimensions = async (names, request) => {
      const found = new Map<string, FortnoxRecords['dimension'][]>();
      for (const name of names) {
        const [theirs, value = ''] = name.split('\n');
        const field = dimensionFields.find((each) => each === theirs);
        const all = field === undefined ? [] : await values[field](request);
        found.set(name, field === undefined ? [] : all.flatMap((record) => dimensionIn(record, field, value)));
      }
      return found;
    };
  }

  async accounts(codes: Iterable<string>, request: RequestOptions, days: Days = []) {
    const accounts = await this.#charts(await this.#yearsOf(days, request), request);
    const listed = (account: FortnoxAccount | undefined) => (account === undefined ? [] : [account]);
    return new Map([...codes].map((code) => [code, listed(accounts.get(code))]));
  }

  async journals(codes: Iterable<string>, request: RequestOptions, days: Days = []) {
    const years = await this.#yearsOf(days, request);
    const found = new Map<string, NamedRecord[]>();
    for (const code of codes) {
      const inYears: (JsonObject | undefined)[] = [];
      for (const year of years) inYears.push((await this.#series(year, request)).find(({ Code }) => Code === code));
      const isThere = inYears.some((series) => series !== undefined);
      found.set(code, isThere ? [{ id: code, isActive: inYears.every(takesVouchers) }] : []);
    }
    return found;
  }

  /** A code exists if the chart has an account with each of its VAT codes. */
  async taxes(codes: Iterable<string>, request: RequestOptions, days: Days = []) {
    const wanted = [...codes];
    if (wanted.length === 0) return new Map<string, NamedRecord[]>();
    const accounts = await this.#charts(await this.#yearsOf(days, request), request);
    const inUse = new Set([...accounts.values()].flatMap(({ years }) => years.map(({ vatCode }) => vatCode)));
    const exists = (code: string) => {
      const { base, tax } = vatCodes(code);
      return inUse.has(base) && (tax === null || inUse.has(tax));
    };
    return new Map(wanted.map((code) => [code, exists(code) ? [{ id: code, isActive: true }] : []]));
  }

  clear(): void {
    this.#kept.clear();
  }

  async #yearsOf(days: Days, request: RequestOptions): Promise<FinancialYear[]> {
    return yearsOf(await this.years.all(request), days);
  }
}

function addAccount(accounts: Map<string, FortnoxAccount>, record: JsonObject, year: FinancialYear): void {
  const { code, name, facts } = readAs(record, () => ({
    code: String(asId(record.Number ?? null)),
    name: asText(record.Description ?? ''),
    facts: {
      year,
      isActive: record.Active !== false,
      vatCode: textOf(record.VATCode),
      settings: { CostCenter: settingIn(record.CostCenterSettings), Project: settingIn(record.ProjectSettings) },
      proposed: valuesIn(record),
    },
  }));
  const account = accounts.get(code) ?? { code, name, reconcile: false, years: [] };
  accounts.set(code, { ...account, name, years: [...account.years, facts] });
}

/** A series takes vouchers over the API if it is open to manual ones, and none of them waits for an approval. */
function takesVouchers(series: JsonObject | undefined): boolean {
  return series !== undefined && series.Manual !== false && series.Approver == null;
}

function dimensionIn(record: JsonObject, field: DimensionField, value: string): FortnoxRecords['dimension'][] {
  const code = field === 'CostCenter' ? record.Code : record.ProjectNumber;
  return code === value ? [{ id: value, isActive: record.Active !== false, field }] : [];
}

/** The cost centre and the project of a line or an account. */
export function valuesIn(record: JsonObject): Partial<Record<DimensionField, string>> {
  const values = dimensionFields.map((field) => [field, textOf(record[field])] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== null));
}

function settingIn(value: unknown): Setting {
  return value === 'MANDATORY' || value === 'NOTALLOWED' ? value : 'ALLOWED';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
