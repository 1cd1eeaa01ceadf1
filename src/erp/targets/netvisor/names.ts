import type { Clock } from '../../../domain/clock.ts';
import type { Money } from '../../../domain/money.ts';
import type { RequestOptions } from '../../port.ts';
import type { LineState, NamedRecord, RecordSource, RecordTypes } from '../api/erp-api.ts';
import { readAs } from '../api/form.ts';
import { KeptNames, type LookUp, named } from '../api/names.ts';
import { elementIn, elementsIn, textIn, textOrNone, type XmlElement } from '../api/xml.ts';
import type { NetvisorConnection } from './connection.ts';
import { taxOf } from './form.ts';

export interface NetvisorAccount {
  code: string;
  name: string;
  /** vetledger matches no lines in Netvisor. */
  reconcile: false;
  isActive: boolean;
}

/** A voucher type, under its name and those in other languages. */
export interface VoucherType extends NamedRecord {
  name: string;
  otherNames: string[];
  abbreviation: string;
}

export interface NetvisorRecords extends RecordTypes {
  account: NetvisorAccount;
  journal: VoucherType;
  tax: NamedRecord & { code: string; percent: Money };
  /** A value, under the names of its dimension and its own. */
  dimension: NamedRecord & { dimension: string; item: string };
  party: NamedRecord;
  line: LineState;
}

/** Looks up the records that entries refer to. Each list is read as a whole. */
export class NetvisorNames implements RecordSource<NetvisorRecords> {
  readonly accounts: LookUp<NetvisorAccount>;
  readonly journals: LookUp<VoucherType>;
  /** The API lists no VAT codes. Netvisor refuses a percentage that does not fit a code. */
  readonly taxes: LookUp<NetvisorRecords['tax']> = async (names) =>
    new Map([...names].map((name) => [name, taxesNamed(name)]));
  readonly dimensions: LookUp<NetvisorRecords['dimension']>;
  readonly voucherTypes: (request: RequestOptions) => Promise<VoucherType[]>;
  readonly #kept: KeptNames;

  constructor(connection: NetvisorConnection, clock: Clock) {
    this.#kept = new KeptNames(clock);
    const list = <Value>(resource: string, query: Record<string, string>, read: (root: XmlElement) => Value[]) =>
      this.#kept.whole(async (request) =>
        readAs(await connection.get(resource, query, request), (root) => read(root as XmlElement)),
      );
    const accounts = list('accountlist.nv', {}, accountsIn);
    this.accounts = async (names, request) => named(names, await accounts(request), ({ code }) => code);
    this.voucherTypes = list('vouchertypelist.nv', {}, voucherTypesIn);
    this.journals = async (names, request) => named(names, await this.voucherTypes(request), ({ name }) => name);
    const dimensions = list('dimensionlist.nv', { showhidden: '1' }, dimensionsIn);
    this.dimensions = async (names, request) =>
      named(names, await dimensions(request), ({ dimension, item }) => `${dimension}\n${item}`);
  }

  clear(): void {
    this.#kept.clear();
  }
}

function taxesNamed(name: string): NetvisorRecords['tax'][] {
  const tax = taxOf(name);
  return tax === null ? [] : [{ id: name, isActive: true, ...tax }];
}

/** The accounts of the chart, without its groups. */
function accountsIn(root: XmlElement): NetvisorAccount[] {
  const accounts = elementsIn(elementIn(elementIn(root, 'accountlist'), 'accounts'), 'account');
  return accounts
    .filter((account) => textIn(account, 'accounttype') === 'account')
    .map((account) => ({
      ...{ code: textIn(account, 'number'), name: textIn(account, 'name'), reconcile: false },
      isActive: isYes(textIn(account, 'isactive')),
    }));
}

function voucherTypesIn(root: XmlElement): VoucherType[] {
  const types = elementsIn(elementIn(elementIn(root, 'vouchertypelist'), 'vouchertypes'), 'vouchertype');
  return types.map((type) => ({
    ...{ id: textIn(type, 'netvisorkey'), isActive: true },
    ...{ name: textIn(type, 'name'), abbreviation: textIn(type, 'abbreviation') },
    otherNames: elementsIn(type, 'foreignname').map(({ text }) => text.trim()),
  }));
}

/** A value is unusable if it or its dimension is hidden. */
function dimensionsIn(root: XmlElement): NetvisorRecords['dimension'][] {
  return elementsIn(elementIn(root, 'dimensionnamelist'), 'dimensionname').flatMap((dimension) => {
    const details = elementsIn(dimension, 'dimensiondetails').flatMap((each) => elementsIn(each, 'dimensiondetail'));
    const isHidden = isYes(textOrNone(dimension, 'ishidden'));
    return details.map((detail) => ({
      ...{ id: textIn(detail, 'netvisorkey'), isActive: !isHidden && !isYes(textOrNone(detail, 'ishidden')) },
      ...{ dimension: textIn(dimension, 'name'), item: textIn(detail, 'name') },
    }));
  });
}

function isYes(text: string): boolean {
  return text === '1' || text.toLowerCase() === 'true';
}
