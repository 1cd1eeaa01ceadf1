import type { Clock } from '../../../domain/clock.ts';
import type { Money } from '../../../domain/money.ts';
import type { RequestOptions } from '../../port.ts';
import type { LineState, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { asAmount, asText, readAs } from '../api/form.ts';
import { KeptNames, type LookUp, named, partiesKeptMs } from '../api/names.ts';
import type { XeroConnection } from './connection.ts';
import { asGuid, asOptionalText, recordsIn } from './wire.ts';

/** Manual journals are Xero's only entries. This name takes the place of the ERP's journal. */
export const journalName = 'MANJOURNAL';
/** The system account on which Xero posts the VAT that it computes. */
const vatAccount = 'GST';

export interface XeroAccount {
  code: string;
  name: string;
  /** The API matches no lines. */
  reconcile: false;
  isActive: boolean;
  isBank: boolean;
  /** The purpose of a system account, such as `DEBTORS`; empty for other accounts. */
  system: string;
}

export interface XeroRecords extends RecordTypes {
  account: XeroAccount;
  journal: NamedRecord;
  tax: NamedRecord & { rate: Money };
  /** An option of a tracking category. */
  dimension: NamedRecord & { categoryId: string; category: string; option: string };
  party: NamedRecord;
  line: LineState;
}

/** What the form of journals depends on. */
export interface XeroForm {
  /** The tax type of lines without VAT. */
  plainTax: string;
  /** Code of the account for computed VAT; null if the organisation has none. */
  vatAccount: string | null;
}

/** Looks up the records that entries refer to. Each list is read as a whole, and seldom, since requests are few. */
export class XeroNames implements RecordSource<XeroRecords> {
  readonly accounts: LookUp<XeroAccount>;
  readonly journals: LookUp<NamedRecord> = async (names) => named(names, [journal], () => journalName);
  readonly taxes: LookUp<XeroRecords['tax']>;
  readonly dimensions: LookUp<XeroRecords['dimension']>;
  readonly form: (request: RequestOptions) => Promise<XeroForm>;
  readonly #kept: KeptNames;

  constructor(connection: XeroConnection, clock: Clock) {
    this.#kept = new KeptNames(clock);
    const list = <Value>(path: string, read: (value: unknown) => Value) =>
      this.#kept.whole(async (request) => readAs(await connection.get(path, {}, request), read), partiesKeptMs);
    const accounts = list('/Accounts', accountsIn);
    const taxes = list('/TaxRates', taxesIn);
    const options = list('/TrackingCategories', optionsIn);
    this.accounts = async (names, request) => named(names, await accounts(request), ({ code }) => code);
    this.form = async (request) => {
      const vat = (await accounts(request)).find(({ system }) => system === vatAccount);
      return { plainTax: plainOf(await taxes(request)), vatAccount: vat?.code ?? null };
    };
    // Sales with this tax type are not on the return, so a mapping cannot use it.
    this.taxes = async (names, request) => {
      const known = await taxes(request);
      const used = known.filter(({ id }) => id !== plainOf(known));
      return named(names, used, ({ id }) => String(id));
    };
    this.dimensions = async (names, request) =>
      named(names, await options(request), ({ category, option }) => `${category}\n${option}`);
  }

  clear(): void {
    this.#kept.clear();
  }
}

/** The VAT account is a system account too; Xero alone posts on it. */
export function isVatAccount({ system }: XeroAccount): boolean {
  return system === vatAccount;
}

const journal: NamedRecord = { id: journalName, isActive: true };

/** Accounts without a code, such as some bank accounts, cannot be named. */
function accountsIn(value: unknown): XeroAccount[] {
  return recordsIn(value, 'Accounts').flatMap(({ Code, Name, Status, Type, SystemAccount }) => {
    const code = asOptionalText(Code ?? null);
    const isActive = Status == null || Status === 'ACTIVE';
    const system = asOptionalText(SystemAccount ?? null);
    return code === ''
      ? []
      : { code, name: asText(Name ?? ''), reconcile: false as const, isActive, isBank: Type === 'BANK', system };
  });
}

function taxesIn(value: unknown): XeroRecords['tax'][] {
  return recordsIn(value, 'TaxRates').map(({ TaxType, Status, EffectiveRate }) => ({
    id: asText(TaxType ?? null),
    isActive: Status === 'ACTIVE',
    rate: asAmount(EffectiveRate ?? null),
  }));
}

/** The tax type that is not on the return: Australian organisations have another one. */
function plainOf(taxes: readonly XeroRecords['tax'][]): string {
  const [none, excluded] = ['NONE', 'BASEXCLUDED'];
  return !taxes.some(({ id }) => id === none) && taxes.some(({ id }) => id === excluded) ? excluded : none;
}

function optionsIn(value: unknown): XeroRecords['dimension'][] {
  return recordsIn(value, 'TrackingCategories').flatMap((category) => {
    const of = { categoryId: asGuid(category.TrackingCategoryID ?? null), category: asText(category.Name ?? null) };
    return recordsIn(category, 'Options').map(({ TrackingOptionID, Name, Status }) => ({
      ...of,
      id: asGuid(TrackingOptionID ?? null),
      option: asText(Name ?? null),
      isActive: category.Status === 'ACTIVE' && (Status == null || Status === 'ACTIVE'),
    }));
  });
}
