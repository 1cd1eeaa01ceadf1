import type { FortnoxConfig } from '../../../config/erp.ts';
import { erpRecordFindings, fortnoxTerms } from '../../../texts/findings/erp-records.ts';
import { companyOf } from '../../company.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import type { CheckPlan, ErpPeriods, ErpTarget, RequestOptions } from '../../port.ts';
import type { ErpApi, Fault, ResolvedEntry } from '../api/erp-api.ts';
import { asText, readAs, writtenAs } from '../api/form.ts';
import type { TargetPorts } from '../api/http.ts';
import { ApiTarget } from '../api/target.ts';
import { accountFault } from './account-fault.ts';
import { FortnoxBooks } from './books.ts';
import { fortnoxCapabilities } from './capabilities.ts';
import { FortnoxChecks } from './check.ts';
import { voucherId } from './codes.ts';
import { FortnoxConnection, recordIn } from './connection.ts';
import { FortnoxNames, type FortnoxRecords } from './names.ts';
import { FortnoxReader } from './read.ts';
import { numberIn, readable, toVoucher, voucherText } from './vouchers.ts';

/** Opens the target for a company in Fortnox. It sends no request yet. */
export function openFortnox(config: FortnoxConfig, ports: TargetPorts): ErpTarget {
  return new ApiTarget(companyOf(config), new FortnoxApi(config, ports));
}

class FortnoxApi implements ErpApi<FortnoxRecords> {
  readonly capabilities = fortnoxCapabilities;
  readonly terms = fortnoxTerms;
  readonly records: FortnoxNames;
  readonly reader: FortnoxReader;
  readonly books: FortnoxBooks;
  readonly #connection: FortnoxConnection;

  constructor(config: FortnoxConfig, ports: TargetPorts) {
    this.#connection = new FortnoxConnection(config, ports);
    this.records = new FortnoxNames(this.#connection, ports.clock);
    this.reader = new FortnoxReader(this.#connection, this.records.years);
    this.books = new FortnoxBooks(this.#connection, this.records.years, this.reader);
  }

  company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    return this.#connection.company(request);
  }

  forget(): void {
    this.records.clear();
  }

  textOf(entry: ErpEntry): string {
    return readable(voucherText(entry));
  }

  async entryFault({ date }: ErpEntry, request: RequestOptions): Promise<Fault | null> {
    if ((await this.records.years.of(date, request)) !== null) return null;
    return { code: 'erp_period_missing', message: erpRecordFindings.noPeriod({ erp: this.terms.erp, date }) };
  }

  lineFault(
    account: FortnoxRecords['account'],
    { entry, line }: { entry: ErpEntry; line: ErpEntry['lines'][number] },
  ): Fault | null {
    const { erp } = this.terms;
    const named = { erp, account: account.code };
    const facts = account.years.find(({ year }) => year.from <= entry.date && entry.date <= year.through);
    if (facts === undefined) return { code: 'erp_account_unknown', message: erpRecordFindings.accountMissing(named) };
    const taxes = line.vat === null ? [] : [line.vat];
    const fault = accountFault(facts, { taxes, dimensions: new Set(Object.keys(line.dimensions)) });
    return fault && { code: fault.code, message: erpRecordFindings.account({ ...named, reason: fault.reason }) };
  }

  /** Always with the financial year: Fortnox would otherwise take the one that a person has chosen. */
  async create(entries: readonly ResolvedEntry<FortnoxRecords>[], request: RequestOptions): Promise<string[]> {
    await this.#connection.company(request);
    const ids: string[] = [];
    for (const resolved of entries) {
      const year = await this.records.years.of(resolved.entry.date, request);
      const query = { financialyear: String(year?.id ?? '') };
      const answer = await this.#connection.post('/3/vouchers', query, toVoucher(resolved), request);
      ids.push(writtenAs(answer, (value) => voucherId(numberIn(recordIn(value, 'Voucher')))));
    }
    return ids;
  }

  async post(): Promise<void> {
    throw new Error('vouchers in Fortnox are never drafts');
  }

  async withdrawDrafts(): Promise<void> {
    throw new Error('vouchers in Fortnox are never drafts');
  }

  /** Every financial year is open, apart from the days through the end of the locked period. */
  async periods(request: RequestOptions): Promise<ErpPeriods> {
    await this.#connection.company(request);
    this.records.clear();
    const years = await this.records.years.all(request);
    const locked = await this.#connection.get('/3/settings/lockedperiod', {}, request);
    const date = readAs(locked, (value) => asText(recordIn(value, 'LockedPeriod').EndDate ?? ''));
    return {
      periods: years.map(({ from, through }) => ({ from, through, isOpen: true, kind: 'general' as const })),
      lockedThrough: date === '' ? [] : [{ kind: 'general', date }],
    };
  }

  check(plan: CheckPlan, request: RequestOptions): FortnoxChecks {
    return new FortnoxChecks({ connection: this.#connection, periods: () => this.periods(request) }, plan, request);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
