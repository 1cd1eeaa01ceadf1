// The clinic's state: tables, departments and clock, and the transactions that change it.

import type { Quirks } from './quirks.ts';
import type {
  AccountingReport,
  AccountNumber,
  AlternativePayer,
  AlternativePricing,
  Client,
  Department,
  Invoice,
  InvoicePayment,
  InvoiceRow,
  Prepayment,
  RecordBase,
  VatGroup,
} from './records.ts';
import { NotFound, ValidationProblem } from './records.ts';
import { Rng } from './rng.ts';
import { careTables } from './state/care.ts';
import { onlineTables } from './state/online.ts';
import { peopleTables } from './state/people.ts';
import { registerTables } from './state/registers.ts';
import { supplyTables } from './state/supply.ts';
import { Tables } from './state/tables.ts';
import type { Table } from './table.ts';
import type { Zone } from './zone.ts';

export interface StoreOptions {
  seed: number;
  zone: Zone;
  decimals: number;
  quirks: Quirks;
  clock: () => number;
}

/** A record that a transaction created, changed or deleted. One transaction can list a record several times. */
export interface ChangedRecord {
  /** The name of the record's table and resource, or `department`, or `extra_fee` with the invoice's id. */
  kind: string;
  id: number;
  isDeleted?: boolean;
}

export class Store {
  readonly #tables = new Tables();
  readonly invoices = this.#tables.add<Invoice>('invoice', 10_001);
  readonly invoiceRows = this.#tables.add<InvoiceRow>('invoicerow', 50_001, (row) => row.invoice);
  readonly invoicePayments = this.#tables.add<InvoicePayment>('invoicepayment', 30_001, (payment) => payment.invoice);
  readonly prepayments = this.#tables.add<Prepayment>('unallocatedpayment', 701);
  readonly clients = this.#tables.add<Client>('client', 2001);
  readonly accountNumbers = this.#tables.add<AccountNumber>('accountnumber', 101);
  readonly alternativePayers = this.#tables.add<AlternativePayer>('alternative_payer', 301);
  readonly alternativePricings = this.#tables.add<AlternativePricing>('alternativepricing', 401);
  readonly accountingReports = this.#tables.add<AccountingReport>('accountingreport', 801);
  /** Users, items and patients, which other parts refer to. */
  readonly registers = registerTables(this.#tables);
  /** Consultations and their records. */
  readonly care = careTables(this.#tables);
  /** Payment links, prescriptions, appointments, and the messages sent about them. */
  readonly online = onlineTables(this.#tables);
  /** Phone numbers, custom fields and code lists. */
  readonly people = peopleTables(this.#tables);
  /** Wholesalers, their catalogs, orders and receipts. */
  readonly supply = supplyTables(this.#tables);
  readonly seed: number;
  readonly departments = new Map<number, Department>();
  readonly vatGroups: VatGroup[] = [];
  readonly zone: Zone;
  readonly decimals: number;
  readonly quirks: Quirks;
  /** The random stream of live events. It is saved with the clinic. */
  readonly liveRng: Rng;
  /** The random stream of payment links, prescriptions and bookings. It is saved with the clinic. */
  readonly onlineRng: Rng;
  /** The random stream of the clinic's purchasing. It is saved with the clinic. */
  readonly supplyRng: Rng;
  readonly #lateRng: Rng;
  /** The current time in epoch milliseconds. The generator sets it to the time of each event. */
  clock: () => number;
  /** The store calls this after each transaction. */
  onChange: (changed: ChangedRecord[]) => void = () => {};
  #changed: ChangedRecord[] = [];
  #depth = 0;
  #visibleAt = 0;

  constructor(options: StoreOptions) {
    this.seed = options.seed;
    this.zone = options.zone;
    this.decimals = options.decimals;
    this.quirks = options.quirks;
    this.clock = options.clock;
    this.liveRng = new Rng(options.seed, 'live');
    this.onlineRng = new Rng(options.seed, 'online');
    this.supplyRng = new Rng(options.seed, 'supply live');
    this.#lateRng = new Rng(options.seed, 'late commits');
  }

  /** Empties the clinic and restarts its random streams. */
  clear(): void {
    for (const table of this.tables.values()) table.clear();
    this.departments.clear();
    this.vatGroups.length = 0;
    this.liveRng.state = new Rng(this.seed, 'live').state;
    this.onlineRng.state = new Rng(this.seed, 'online').state;
    this.supplyRng.state = new Rng(this.seed, 'supply live').state;
    this.#lateRng.state = new Rng(this.seed, 'late commits').state;
    this.#changed = [];
  }

  /** Today's date in the clinic's time zone. */
  today(): string {
    return this.zone.date(this.clock());
  }

  /**
   * Runs a change as one transaction: lists show all of it from the same moment. With the quirk `lateCommitShare`, that
   * moment can be later than its ids and `modified`. Changes by API requests are visible at once, because the answer
   * follows the commit.
   */
  commit<T>(change: () => T, kind: 'clinic' | 'request' = 'clinic'): T {
    if (this.#depth === 0) {
      const late =
        kind === 'clinic' && this.quirks.lateCommitShare > 0 && this.#lateRng.chance(this.quirks.lateCommitShare);
      this.#visibleAt = late ? this.clock() + this.quirks.lateCommitMs : 0;
    }
    this.#depth++;
    try {
      return change();
    } finally {
      this.#depth--;
      if (this.#depth === 0) {
        const changed = this.#changed;
        this.#changed = [];
        this.onChange(changed);
      }
    }
  }

  insert<T extends RecordBase>(table: Table<T>, fields: Omit<NoInfer<T>, 'id' | 'created' | 'modified'>): T {
    const now = this.clock();
    const record = table.add({ id: table.nextId, created: now, modified: now, ...fields } as T, this.#visibleAt);
    this.#note(table, record.id);
    return record;
  }

  /** Changes a record and updates its `modified`. */
  update<T extends RecordBase>(table: Table<T>, record: NoInfer<T>, changes: Partial<NoInfer<T>>): T {
    this.#note(table, record.id);
    return table.change(record, { ...changes, modified: this.clock() }, this.#visibleAt);
  }

  /** Changes a record without changing its `modified`. */
  updateQuietly<T extends RecordBase>(table: Table<T>, record: NoInfer<T>, changes: Partial<NoInfer<T>>): T {
    return table.change(record, changes, this.#visibleAt);
  }

  /** Deletes a record permanently. */
  remove<T extends RecordBase>(table: Table<T>, id: number): void {
    if (table.get(id)) this.#changed.push({ kind: this.#tables.nameOf(table), id, isDeleted: true });
    table.delete(id);
  }

  /** Records a change that is not in a table. */
  noteChange(kind: 'department' | 'extra_fee', id: number): void {
    this.#changed.push({ kind, id });
  }

  #note<T extends RecordBase>(table: Table<T>, id: number): void {
    this.#changed.push({ kind: this.#tables.nameOf(table), id });
  }

  /** All tables by the names of their resources. */
  get tables(): ReadonlyMap<string, Table<RecordBase>> {
    return this.#tables.byName;
  }

  invoice(id: number): Invoice {
    return found(this.invoices.get(id));
  }

  payment(id: number): InvoicePayment {
    return found(this.invoicePayments.get(id));
  }

  prepayment(id: number): Prepayment {
    return found(this.prepayments.get(id));
  }

  department(id: number): Department {
    return found(this.departments.get(id));
  }

  /**
   * The current lock date: the one that staff set, or with automatic locking the first of a month. It is this month
   * from the configured day on, and the month before until then. In a month without that day, the last day counts.
   */
  lockDate(department: Department): string | null {
    if (!department.automatic_financial_period_lock_enabled) return department.financial_period_lock_date;
    const today = this.today();
    const [year, month, day] = today.split('-').map(Number) as [number, number, number];
    const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
    const advanced = day >= Math.min(department.automatic_financial_period_lock_day, lastDay);
    return new Date(Date.UTC(year, month - (advanced ? 1 : 2), 1)).toISOString().slice(0, 10);
  }

  /**
   * Throws ValidationProblem for a date before the department's lock date (practice-api: Department settings, Errors).
   */
  requireUnlocked(departmentId: number, date: string, field: string): void {
    const lockDate = this.lockDate(this.department(departmentId));
    if (lockDate !== null && date < lockDate) {
      throw new ValidationProblem(field, `The financial period is locked: the date must be on or after ${lockDate}.`);
    }
  }
}

const found = <T>(record: T | undefined): T => {
  if (record === undefined) throw new NotFound();
  return record;
};
