import type { ProcountorConfig } from '../../../config/erp.ts';
import { erpRecordFindings, procountorTerms } from '../../../texts/findings/erp-records.ts';
import { companyOf } from '../../company.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import type { CheckPlan, ErpBooks, ErpPeriods, ErpTarget, RequestOptions } from '../../port.ts';
import type { ErpApi, Fault, ResolvedEntry } from '../api/erp-api.ts';
import { asId, asList, asRecord, asText, idOf, readAs, writtenAs } from '../api/form.ts';
import type { TargetPorts } from '../api/http.ts';
import { ApiTarget } from '../api/target.ts';
import { procountorBooks } from './books.ts';
import { procountorCapabilities } from './capabilities.ts';
import { ProcountorChecks } from './check.ts';
import { ProcountorConnection } from './connection.ts';
import { ProcountorNames, type ProcountorRecords } from './names.ts';
import { ProcountorReader } from './read.ts';
import { receiptName, toReceipt } from './receipts.ts';

/** Opens the target for a company in Procountor. It sends no request yet. */
export function openProcountor(config: ProcountorConfig, ports: TargetPorts): ErpTarget {
  return new ApiTarget(companyOf(config), new ProcountorApi(config, ports));
}

class ProcountorApi implements ErpApi<ProcountorRecords> {
  readonly capabilities = procountorCapabilities;
  readonly terms = procountorTerms;
  readonly records: ProcountorNames;
  readonly reader: ProcountorReader;
  readonly books: ErpBooks;
  readonly #connection: ProcountorConnection;

  constructor(config: ProcountorConfig, ports: TargetPorts) {
    this.#connection = new ProcountorConnection(config, ports);
    this.records = new ProcountorNames(this.#connection, ports.clock);
    this.reader = new ProcountorReader(this.#connection, this.records);
    this.books = procountorBooks(this.reader);
  }

  company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    return this.#connection.company(request);
  }

  forget(): void {
    this.records.clear();
  }

  textOf(entry: ErpEntry): string {
    return receiptName(entry);
  }

  lineFault(account: ProcountorRecords['account']): Fault | null {
    if (account.isActive) return null;
    const { erp } = this.terms;
    const message = erpRecordFindings.account({ erp, account: account.code, reason: erpRecordFindings.isClosed });
    return { code: 'erp_account_unknown', message };
  }

  /** Never with `createReconciliation`: Procountor would add a line that balances the receipt. */
  async create(entries: readonly ResolvedEntry<ProcountorRecords>[], request: RequestOptions): Promise<number[]> {
    await this.#connection.company(request);
    const ids: number[] = [];
    for (const entry of entries) {
      const body = toReceipt(entry);
      const answer = await this.#write('POST', '/ledgerreceipts', request, body);
      ids.push(writtenAs(answer, (receipt) => asId(asRecord(receipt).id ?? null)));
    }
    return ids;
  }

  async post(ids: readonly string[], request: RequestOptions): Promise<void> {
    for (const id of ids) await this.#write('PUT', `${receiptPath(id)}/approve`, request);
  }

  async withdrawDrafts(ids: readonly string[], request: RequestOptions): Promise<void> {
    for (const id of ids) await this.#write('PUT', `${receiptPath(id)}/invalidate`, request);
  }

  async periods(request: RequestOptions): Promise<ErpPeriods> {
    await this.#connection.company(request);
    const answer = await this.#connection.get('/fiscalyears', {}, request);
    return { periods: readAs(answer, periodsIn), lockedThrough: [] };
  }

  check(plan: CheckPlan, request: RequestOptions): ProcountorChecks {
    const periods = () => this.periods(request);
    return new ProcountorChecks({ connection: this.#connection, reader: this.reader, periods }, plan, request);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  #write(verb: 'POST' | 'PUT', path: string, request: RequestOptions, body?: Record<string, unknown>) {
    return this.#connection.call({ access: 'writes', verb, path, ...(body && { body }) }, request);
  }
}

export function receiptPath(id: string): string {
  return `/ledgerreceipts/${idOf('Procountor', id)}`;
}

/** The fiscal years, and their tracking periods. A pending period counts as open: Procountor decides about it. */
function periodsIn(value: unknown): NonNullable<ErpPeriods['periods']> {
  return asList(asRecord(value).fiscalYears ?? null).flatMap((each) => {
    const year = asRecord(each);
    const tracked = asList(year.trackingPeriods ?? []).map(asRecord);
    const days = ({ startDate, endDate }: Record<string, unknown>) => ({
      from: asText(startDate ?? null),
      through: asText(endDate ?? null),
    });
    return [
      { ...days(year), isOpen: year.isOpen === true, kind: 'year' as const },
      ...tracked.map((period) => ({ ...days(period), isOpen: period.status !== 'CLOSED', kind: 'general' as const })),
    ];
  });
}
