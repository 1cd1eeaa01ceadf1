import type { XeroConfig } from '../../../config/erp.ts';
import { zero } from '../../../domain/money.ts';
import { visible } from '../../../domain/text.ts';
import { erpRecordFindings, xeroTerms } from '../../../texts/findings/erp-records.ts';
import type { Capabilities } from '../../capabilities.ts';
import { companyOf } from '../../company.ts';
import type { ErpEntry, ErpLine } from '../../erp-entry.ts';
import type { CheckPlan, ErpBooks, ErpPeriods, ErpTarget, Expiry, RequestOptions, WriteOptions } from '../../port.ts';
import type { ErpApi, Fault, ResolvedEntry } from '../api/erp-api.ts';
import { readAs } from '../api/form.ts';
import type { LimitsLeft } from '../api/limits-left.ts';
import { SummedBooks } from '../api/summed-books.ts';
import { ApiTarget } from '../api/target.ts';
import { xeroCapabilities } from './capabilities.ts';
import { XeroChecks } from './check.ts';
import { XeroConnection, type XeroPorts } from './connection.ts';
import { createdIds, type NewStatus, toJournal } from './journals.ts';
import { XeroNames, type XeroRecords } from './names.ts';
import { XeroReader } from './read.ts';
import { asDay } from './wire.ts';
import { createJournals, setStatus } from './write.ts';

/** Opens the target for an organisation in Xero. It sends no request yet. */
export function openXero(config: XeroConfig, ports: XeroPorts): ErpTarget {
  return new ApiTarget(companyOf(config), new XeroApi(config, ports));
}

class XeroApi implements ErpApi<XeroRecords> {
  readonly capabilities: Capabilities;
  readonly terms = xeroTerms;
  readonly records: XeroNames;
  readonly reader: XeroReader;
  /** The manual journals. Invoices and payments that people enter in Xero are not among them. */
  readonly books: ErpBooks;
  readonly limitsLeft: LimitsLeft;
  readonly #connection: XeroConnection;

  constructor(config: XeroConfig, ports: XeroPorts) {
    // Journals are posted at once, except those that the accountant wants to post.
    const steps = config.post === 'draft' ? 'draft_then_post' : 'one';
    this.capabilities = { ...xeroCapabilities, write: { ...xeroCapabilities.write, steps } };
    this.#connection = new XeroConnection(config, ports);
    this.limitsLeft = this.#connection.limitsLeft;
    this.records = new XeroNames(this.#connection, ports.clock);
    this.reader = new XeroReader(this.#connection, this.records);
    this.books = new SummedBooks((which, options) => this.reader.entries(which, options));
  }

  company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    return this.#connection.company(request);
  }

  forget(): void {
    this.records.clear();
  }

  /** Xero posts VAT on its own account, so the books must use the same one. */
  async entryFault(entry: ErpEntry, request: RequestOptions): Promise<Fault | null> {
    const { vatAccount } = await this.records.form(request);
    const other = entry.lines.find(({ vat, account }) => vat?.part === 'tax' && account !== vatAccount);
    if (other === undefined) return null;
    const reason =
      vatAccount === null
        ? erpRecordFindings.noVatAccount
        : erpRecordFindings.isNotVatAccount({ account: visible(vatAccount) });
    return this.#unknown(other.account, reason);
  }

  lineFault(account: XeroRecords['account']): Fault | null {
    const { code, isActive, isBank, system } = account;
    if (!isActive) return this.#unknown(code, erpRecordFindings.isArchived);
    if (isBank) return this.#unknown(code, erpRecordFindings.isBank);
    return system === '' ? null : this.#unknown(code, erpRecordFindings.isSystem({ system: visible(system) }));
  }

  /** Xero computes VAT by its own rate of a tax type. */
  taxFault(found: readonly XeroRecords['tax'][], { code, rate }: NonNullable<ErpLine['vat']>): string | null {
    const [tax] = found;
    const ours = rate ?? zero;
    if (tax === undefined || tax.rate.equals(ours)) return null;
    const { erp } = this.terms;
    const rates = { theirs: tax.rate.toFixed(), ours: ours.toFixed() };
    return erpRecordFindings.rateDiffers({ erp, tax: visible(code), ...rates });
  }

  #unknown(account: string, reason: string): Fault {
    const message = erpRecordFindings.account({ erp: this.terms.erp, account: visible(account), reason });
    return { code: 'erp_account_unknown', message };
  }

  async create(entries: readonly ResolvedEntry<XeroRecords>[], request: WriteOptions): Promise<string[]> {
    const { plainTax } = await this.records.form(request);
    const status: NewStatus = this.capabilities.write.steps === 'one' ? 'POSTED' : 'DRAFT';
    const journals = entries.map((entry) => toJournal(entry, { status, plainTax }));
    const answer = await createJournals(this.#connection, journals, request);
    return createdIds(
      answer,
      entries.map(({ entry: { key } }) => key),
    );
  }

  post(ids: readonly string[], request: WriteOptions): Promise<void> {
    return setStatus(this.#connection, ids, 'POSTED', request);
  }

  withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    return setStatus(this.#connection, ids, 'DELETED', request);
  }

  /** Xero has no periods, only two lock dates. One of them does not bind advisers, but it binds vetledger. */
  async periods(request: RequestOptions): Promise<ErpPeriods> {
    const organisation = await this.#connection.organisation(request);
    const kinds = [
      ['general', organisation.PeriodLockDate],
      ['year', organisation.EndOfYearLockDate],
    ] as const;
    const lockedThrough = kinds.flatMap(([kind, day]) => (day == null ? [] : [{ kind, date: readAs(day, asDay) }]));
    return { periods: null, lockedThrough };
  }

  check(plan: CheckPlan, request: RequestOptions): XeroChecks {
    const { reader, records } = this;
    const periods = () => this.periods(request);
    return new XeroChecks({ connection: this.#connection, reader, records, periods }, plan, request);
  }

  expiries(): Promise<Expiry[]> {
    return this.#connection.expiries();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
