// The source of a simulated life: the sandbox's clinic with a watcher, which can also show damaged records.
import { departments, inventClient, vatGroups } from '../../sandbox/src/catalogue.ts';
import { Clinic } from '../../sandbox/src/clinic.ts';
import type { PaymentInput } from '../../sandbox/src/inputs.ts';
import { dec, fixed } from '../../sandbox/src/money.ts';
import { defaultQuirks, type Quirks } from '../../sandbox/src/quirks.ts';
import type { InvoicePayment, RecordBase } from '../../sandbox/src/records.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import type { Table } from '../../sandbox/src/table.ts';
import { Zone } from '../../sandbox/src/zone.ts';
import type { RecordKind } from '../../src/terms.ts';

/** A field that answers show wrongly. If `value` is undefined, answers lack the field. */
export interface Damage {
  field: string;
  value: unknown;
}

/** Called for each record that changes or is deleted. A changed row is reported as its invoice. */
export type Watcher = (kind: RecordKind, id: number) => void;

/** The differences between lives besides their events: currency, zone, styles of JSON and cut-over. */
export interface Setting {
  seed: number;
  decimals: number;
  currency: string;
  timezone: string;
  quirks: Quirks;
  exposeVatGroup: boolean;
  startDate: string | null;
  redate: boolean;
  followSourceLock: boolean;
  /** A document that is dated more months than this before it was recorded is held. */
  oldestMonths: number;
  /** True if closing and reopening the books is the most frequent change. */
  closesOften: boolean;
  /** The day on which rules and validities of the mapping change; null if they do not. */
  changeOn: string | null;
  holdsExpired: boolean;
  /** The day from which prepayments are posted with VAT; null if never. */
  prepaymentVatFrom: string | null;
  beginsAt: number;
}

const dayMs = 86_400_000;

/** The setting of a seed. */
export function settingOf(seed: number): Setting {
  const rng = new Rng(seed, 'setting');
  const [decimals, currency] = rng.weighted([
    [[2, 'EUR'] as const, 6],
    [[0, 'JPY'] as const, 2],
    [[3, 'KWD'] as const, 2],
  ]);
  // Some lives begin before a change of clocks, so that a life of some months contains one.
  const beginsAt =
    Date.parse(rng.pick(['2026-01-20', '2026-02-25', '2026-09-20', '2025-12-10'])) + rng.int(0, 23) * 3_600_000;
  const later = (from: number, to: number) => new Date(beginsAt + rng.int(from, to) * dayMs).toISOString().slice(0, 10);
  const start = later(1, 20);
  return {
    seed,
    decimals,
    currency,
    timezone: rng.pick([
      'Europe/Helsinki',
      'Europe/Helsinki',
      'America/New_York',
      'Asia/Tokyo',
      'Pacific/Auckland',
      'UTC',
    ]),
    quirks: {
      ...defaultQuirks,
      decimals: rng.pick(['mixed', 'string', 'number']),
      timestamps: rng.pick(['offset', 'zulu', 'naive']),
      invoiceDateAsDatetime: rng.chance(0.3),
      extraFields: rng.chance(0.2),
      urlReferences: rng.pick(['absolute', 'query', 'otherHost']),
      paymentTouchesInvoice: rng.chance(0.7),
      refundLowersUnused: rng.chance(0.7),
    },
    exposeVatGroup: rng.chance(0.8),
    startDate: rng.chance(0.6) ? start : null,
    redate: rng.chance(0.5),
    followSourceLock: rng.chance(0.5),
    oldestMonths: rng.chance(0.4) ? 1 : 24,
    closesOften: rng.chance(0.5),
    changeOn: rng.chance(0.6) ? later(5, 30) : null,
    holdsExpired: rng.chance(0.3),
    prepaymentVatFrom: rng.chance(0.6) ? later(0, 12) : null,
    beginsAt,
  };
}

export class WatchedClinic extends Clinic {
  readonly setting: Setting;
  readonly watchers: Watcher[] = [];
  readonly damage = new Map<string, Damage>();
  #now: number;

  constructor(setting: Setting) {
    const { seed, timezone, decimals, quirks, beginsAt } = setting;
    super({ seed, zone: new Zone(timezone), decimals, quirks, clock: () => 0 });
    this.setting = setting;
    this.#now = beginsAt;
    this.clock = () => this.#now;
    this.vatGroups.push(...Object.values(vatGroups));
    for (const department of departments()) this.departments.set(department.id, department);
    const rng = new Rng(seed, 'clients');
    for (let serial = 1; serial <= 8; serial++) this.insert(this.clients, inventClient(rng, serial));
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  /** Adds a payment without checks: on a draft, a voided or an unknown invoice, of any type and date. */
  putPayment(
    invoiceId: number,
    input: Required<Pick<PaymentInput, 'payment_type' | 'paid' | 'date_added'>>,
  ): InvoicePayment {
    const payment = this.insert(this.invoicePayments, {
      ...input,
      invoice: invoiceId,
      paid: fixed(dec(input.paid), this.decimals),
      info: '',
      cancels: null,
      prepayment: null,
    });
    const invoice = this.invoices.get(invoiceId);
    if (invoice) this.settle(invoice);
    return payment;
  }

  /** Makes answers show a record wrongly from now on; null shows it correctly again. */
  setDamage(kind: RecordKind, id: number, damage: Damage | null): void {
    if (damage) this.damage.set(`${kind}/${id}`, damage);
    else this.damage.delete(`${kind}/${id}`);
    this.#tell(kind, kind === 'row' ? (this.invoiceRows.get(id)?.invoice ?? 0) : id);
  }

  /** Returns the used amount to a prepayment, as staff would do when they delete the payment. */
  giveBack(payment: InvoicePayment): void {
    const prepayment = payment.prepayment === null ? undefined : this.prepayments.get(payment.prepayment);
    if (!prepayment) return;
    const unused = dec(prepayment.unused_amount).plus(payment.paid);
    const fully_used = !unused.greaterThan(0);
    const status = fully_used ? 'Fully used' : 'Ready';
    this.update(this.prepayments, prepayment, { unused_amount: fixed(unused, this.decimals), fully_used, status });
  }

  override insert<T extends RecordBase>(table: Table<T>, fields: Omit<NoInfer<T>, 'id' | 'created' | 'modified'>): T {
    return this.#noted(table, super.insert(table, fields));
  }

  override update<T extends RecordBase>(table: Table<T>, record: NoInfer<T>, changes: Partial<NoInfer<T>>): T {
    return this.#noted(table, super.update(table, record, changes));
  }

  override updateQuietly<T extends RecordBase>(table: Table<T>, record: NoInfer<T>, changes: Partial<NoInfer<T>>): T {
    return this.#noted(table, super.updateQuietly(table, record, changes));
  }

  override deleteRecord(kind: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment', id: number): void {
    const payments = kind === 'invoice' ? this.invoicePayments.of(id).map((payment) => payment.id) : [];
    const rowOf = kind === 'invoicerow' ? this.invoiceRows.get(id)?.invoice : undefined;
    super.deleteRecord(kind, id);
    if (kind === 'invoice') this.#tell('invoice', id);
    else if (kind === 'invoicepayment') this.#tell('payment', id);
    else if (kind === 'unallocatedpayment') this.#tell('prepayment', id);
    if (rowOf !== undefined) this.#tell('row', rowOf);
    for (const payment of payments) this.#tell('payment', payment);
  }

  #noted<T extends RecordBase>(table: Table<T>, record: T): T {
    const any: unknown = table;
    if (any === this.invoices) this.#tell('invoice', record.id);
    else if (any === this.invoicePayments) this.#tell('payment', record.id);
    else if (any === this.prepayments) this.#tell('prepayment', record.id);
    else if (any === this.invoiceRows) this.#tell('row', this.invoiceRows.get(record.id)!.invoice);
    return record;
  }

  #tell(kind: RecordKind, id: number): void {
    for (const watch of this.watchers) watch(kind, id);
  }
}
