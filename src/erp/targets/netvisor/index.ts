import type { NetvisorConfig } from '../../../config/erp.ts';
import { erpRecordFindings, netvisorTerms } from '../../../texts/findings/erp-records.ts';
import { companyOf } from '../../company.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import type { CheckPlan, ErpBooks, ErpPeriods, ErpTarget, RequestOptions, WriteOptions } from '../../port.ts';
import type { ErpApi, Fault, ResolvedEntry } from '../api/erp-api.ts';
import { idOf, readAs, writtenAs } from '../api/form.ts';
import type { TargetPorts } from '../api/http.ts';
import { partsOf } from '../api/pages.ts';
import { SummedBooks } from '../api/summed-books.ts';
import { ApiTarget } from '../api/target.ts';
import type { Xml, XmlElement } from '../api/xml.ts';
import { mostInvalidated, netvisorCapabilities } from './capabilities.ts';
import { NetvisorChecks } from './check.ts';
import { insertedId, NetvisorConnection } from './connection.ts';
import { NetvisorNames, type NetvisorRecords } from './names.ts';
import { periodsIn } from './periods.ts';
import { NetvisorReader, voucherPages } from './read.ts';
import { toVoucher, voucherText } from './vouchers.ts';

/** Opens the target for a company in Netvisor. It sends no request yet. */
export function openNetvisor(config: NetvisorConfig, ports: TargetPorts): ErpTarget {
  return new ApiTarget(companyOf(config), new NetvisorApi(config, ports));
}

class NetvisorApi implements ErpApi<NetvisorRecords> {
  readonly capabilities = netvisorCapabilities;
  readonly terms = netvisorTerms;
  readonly records: NetvisorNames;
  readonly reader: NetvisorReader;
  readonly books: ErpBooks;
  readonly #connection: NetvisorConnection;

  constructor(config: NetvisorConfig, ports: TargetPorts) {
    const connection = new NetvisorConnection(config, ports);
    this.#connection = connection;
    this.records = new NetvisorNames(connection, ports.clock);
    const periods = (request: RequestOptions) => this.periods(request);
    this.reader = new NetvisorReader({ connection, names: this.records, periods });
    this.books = new SummedBooks(voucherPages(this.reader));
  }

  async company(): Promise<{ id: string; currency: string }> {
    return this.#connection.company;
  }

  forget(): void {
    this.records.clear();
  }

  textOf(entry: ErpEntry): string {
    return voucherText(entry);
  }

  lineFault(account: NetvisorRecords['account']): Fault | null {
    if (account.isActive) return null;
    const { erp } = this.terms;
    const message = erpRecordFindings.account({ erp, account: account.code, reason: erpRecordFindings.isClosed });
    return { code: 'erp_account_unknown', message };
  }

  /** The id of the attempt is the one of the request, so there is one entry. */
  async create(
    [entry, ...others]: readonly ResolvedEntry<NetvisorRecords>[],
    request: WriteOptions,
  ): Promise<string[]> {
    if (entry === undefined || others.length > 0) throw new Error('Netvisor takes one voucher in a request');
    return [await this.#import(toVoucher(entry), request)];
  }

  async post(): Promise<void> {
    throw new Error('Netvisor has no drafts');
  }

  async withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    for (const [n, part] of [...partsOf(ids, mostInvalidated)].entries()) {
      const vouchers = part.map((id): Xml => ['invalidatevoucher', String(idOf('Netvisor', id))]);
      const root: Xml[] = [['invalidatevouchers', vouchers, { identifier: 'netvisorkey' }]];
      const attemptId = n === 0 ? request.attemptId : `${request.attemptId}/${n}`;
      await this.#connection.post({ resource: 'invalidatevouchers.nv', root }, { ...request, attemptId });
    }
  }

  async periods(request: RequestOptions): Promise<ErpPeriods> {
    const root = await this.#connection.get('accountingperiodlist.nv', {}, request);
    return readAs(root, (answer) => periodsIn(answer as XmlElement));
  }

  check(plan: CheckPlan, request: RequestOptions): NetvisorChecks {
    const checked = {
      company: this.#connection.company,
      accounts: this.records.accounts,
      periods: () => this.periods(request),
      make: (voucher: Xml, attemptId: string) => this.#import(voucher, { ...request, attemptId }),
      invalidate: (ids: string[], attemptId: string) => this.withdrawDrafts(ids, { ...request, attemptId }),
    };
    return new NetvisorChecks(checked, plan, request);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** Returns the new voucher's id. Without the parameter, Netvisor would create unknown dimensions. */
  async #import(voucher: Xml, request: WriteOptions): Promise<string> {
    const query = { useonlyexistingdimensions: '1' };
    const root = await this.#connection.post({ resource: 'accounting.nv', query, root: [voucher] }, request);
    return writtenAs(root, (answer) => insertedId(answer as XmlElement));
  }
}
