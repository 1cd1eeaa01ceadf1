import type { Clock } from '../../../domain/clock.ts';
import type { Money } from '../../../domain/money.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import type { LineState, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { asAmount, asId, asList, asRecord, asText, readAs } from '../api/form.ts';
import { KeptNames, type LookUp, named } from '../api/names.ts';
import { dimensionKey, plainStatus, receiptType, taxOf } from './codes.ts';
import type { ProcountorConnection } from './connection.ts';

export interface ProcountorAccount {
  code: string;
  name: string;
  /** Procountor’s API matches no lines. */
  reconcile: false;
  isActive: boolean;
}

export interface ProcountorDimension extends NamedRecord {
  dimensionId: number;
  itemId: number;
}

export interface ProcountorRecords extends RecordTypes {
  account: ProcountorAccount;
  journal: NamedRecord;
  /** A VAT status and a percentage, both in use for sales. */
  tax: NamedRecord & { status: number; percent: Money };
  /** An item, found by the name of its dimension and its own. */
  dimension: ProcountorDimension;
  party: NamedRecord;
  line: LineState;
}

interface Vats {
  statuses: Set<number>;
  percents: Set<string>;
}

/** Looks up the records that entries refer to. Each list is read as a whole. */
export class ProcountorNames implements RecordSource<ProcountorRecords> {
  readonly accounts: LookUp<ProcountorAccount>;
  readonly journals: LookUp<NamedRecord> = async (names) => named(names, [journal], () => receiptType);
  readonly taxes: LookUp<ProcountorRecords['tax']>;
  readonly dimensions: LookUp<ProcountorDimension>;
  /** Names of dimension and item, by the key of both ids. */
  readonly dimensionNames: (request: RequestOptions) => Promise<Map<string, { dimension: string; item: string }>>;
  readonly #kept: KeptNames;

  constructor(connection: ProcountorConnection, clock: Clock) {
    this.#kept = new KeptNames(clock);
    const list = <Value>(path: string, read: (value: unknown) => Value) =>
      this.#kept.whole(async (request) => readAs(await connection.get(path, {}, request), read));
    const coa = list('/coa', accountsIn);
    this.accounts = async (names, request) => named(names, await coa(request), ({ code }) => code);
    const dimensions = list('/dimensions', dimensionsIn);
    this.dimensions = async (names, request) =>
      named(names, await dimensions(request), ({ dimension, item }) => `${dimension}\n${item}`);
    this.dimensionNames = async (request) =>
      new Map((await dimensions(request)).map((each) => [dimensionKey(each), each]));
    const vats = list('/vats/default', vatsIn);
    this.taxes = async (names, request) => {
      const known = await vats(request);
      return new Map([...names].map((code) => [code, taxIn(code, known)]));
    };
  }

  clear(): void {
    this.#kept.clear();
  }
}

const journal: NamedRecord = { id: receiptType, isActive: true };

function accountsIn(value: unknown): ProcountorAccount[] {
  return asList(asRecord(value).ledgerAccounts ?? null).map((each): ProcountorAccount => {
    const { ledgerAccountCode: code, name, active } = asRecord(each);
    return { code: asText(code ?? null), name: asText(name ?? ''), reconcile: false, isActive: active !== false };
  });
}

function dimensionsIn(value: unknown): (ProcountorDimension & { dimension: string; item: string })[] {
  return asList(value).flatMap((each) => {
    const { id, name, items } = asRecord(each);
    const dimensionId = asId(id ?? null);
    return asList(items ?? []).map((item) => {
      const { id: itemId, codeName, status } = asRecord(item);
      const ids = { dimensionId, itemId: asId(itemId ?? null) };
      const names = { dimension: asText(name ?? null), item: asText(codeName ?? null) };
      return { ...ids, ...names, id: dimensionKey(ids), isActive: status !== 'P' };
    });
  });
}

function vatsIn(value: unknown): Vats {
  const { vatInformation, vatStatuses } = asRecord(value);
  const sold = (list: unknown) =>
    asList(list ?? [])
      .map(asRecord)
      .filter(({ sales }) => sales === true);
  const countries = asList(vatInformation ?? []).map(asRecord);
  return {
    statuses: new Set(sold(vatStatuses).map(({ vatStatus }) => asId(vatStatus ?? null))),
    percents: new Set(countries.flatMap(({ percentages }) => sold(percentages)).map(percentIn)),
  };
}

function percentIn({ vatPercent }: JsonObject): string {
  return asAmount(vatPercent ?? null).toFixed();
}

function taxIn(code: string, { statuses, percents }: Vats): ProcountorRecords['tax'][] {
  const tax = taxOf(code);
  if (tax === null || (tax.status === plainStatus && tax.percent.isZero())) return [];
  return statuses.has(tax.status) && percents.has(tax.percent.toFixed()) ? [{ id: code, isActive: true, ...tax }] : [];
}
