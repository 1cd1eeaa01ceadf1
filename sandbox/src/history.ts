// The stories of a clinic's history. Each story is a sequence of events over time, made with the clinic's operations.
import { Agenda } from './agenda.ts';
import { giftCardAccount, vatGroups } from './catalogue.ts';
import type { Clinic } from './clinic.ts';
import { dec, fixed, Money } from './money.ts';
import type { Client, Invoice, Prepayment } from './records.ts';
import { invoiceStatus } from './records.ts';
import type { Rng } from './rng.ts';
import { invoiceVisit } from './visit-care.ts';
import { payNow, payRest, type Settlement, settleAgainst, settlements, visitRows } from './visits.ts';
import { addDays } from './zone.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The kinds of stories: the number of final invoices of each, and its weight in the random draw. */
export const planKinds = {
  visit: { finals: 1, weight: 760 },
  counterSale: { finals: 1, weight: 95 },
  fullCredit: { finals: 2, weight: 14 },
  partialCredit: { finals: 2, weight: 12 },
  creditOfCredit: { finals: 3, weight: 2 },
  settledCredit: { finals: 2, weight: 5 },
  cancelledPayment: { finals: 1, weight: 12 },
  prepaid: { finals: 1, weight: 26 },
  prepaidRefunded: { finals: 1, weight: 6 },
  consolidated: { finals: 4, weight: 3 },
  negativeInvoice: { finals: 1, weight: 2 },
  zeroInvoice: { finals: 1, weight: 2 },
  giftCardSale: { finals: 1, weight: 6 },
  unusedPrepayment: { finals: 0, weight: 12 },
  prepaymentNotMoney: { finals: 0, weight: 4 },
  voided: { finals: 0, weight: 6 },
  draft: { finals: 0, weight: 8 },
  otherStatus: { finals: 0, weight: 4 },
} as const;

export type PlanKind = keyof typeof planKinds;

export class History {
  readonly #clinic: Clinic;
  readonly #rng: Rng;
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #agenda = new Agenda();
  /** The remaining amounts of the gift cards that were sold. */
  #giftCards = dec(0);
  readonly #privateClients: Client[];
  readonly #companies: Client[];

  constructor(clinic: Clinic, rng: Rng, startMs: number, endMs: number) {
    this.#clinic = clinic;
    this.#rng = rng;
    this.#startMs = startMs;
    this.#endMs = endMs;
    this.#privateClients = clinic.clients.all().filter((client) => client.customer_type === 0);
    this.#companies = clinic.clients.all().filter((client) => client.customer_type !== 0);
  }

  /** Schedules a story at a random opening hour of the history. */
  plan(kind: PlanKind): void {
    this.#agenda.add(this.#openingHour(), (at) => this.#tell(kind, at));
  }

  play(): void {
    for (let event = this.#agenda.take(); event; event = this.#agenda.take()) {
      const { at, run } = event;
      this.#clinic.clock = () => at;
      run(at);
    }
  }

  #tell(kind: PlanKind, at: number): void {
    const clinic = this.#clinic;
    switch (kind) {
      case 'visit':
        this.#visit(at, this.#rng.weighted(settlements));
        break;
      case 'counterSale':
        this.#settle(this.#invoice({ shop: true }), this.#rng.pick(['card', 'mobile', 'cash']), at);
        break;
      case 'fullCredit':
        this.#credited(at, 'card', (invoice) => clinic.credit(invoice.id));
        break;
      case 'partialCredit':
        this.#credited(at, 'card', (invoice) => clinic.credit(invoice.id, { rows: this.#firstRow(invoice) }));
        break;
      case 'creditOfCredit':
        this.#credited(at, 'bankLater', (invoice, when) => {
          const creditNote = clinic.credit(invoice.id, { rows: this.#firstRow(invoice) });
          this.#later(when, 2 * dayMs, () => clinic.credit(creditNote.id));
          return undefined;
        });
        break;
      case 'settledCredit':
        this.#credited(at, 'unpaid', (invoice) => {
          settleAgainst(clinic, invoice, clinic.credit(invoice.id, { useOriginalDate: true }));
          return undefined;
        });
        break;
      case 'cancelledPayment':
        this.#cancelledPayment(at);
        break;
      case 'prepaid':
      case 'prepaidRefunded':
      case 'unusedPrepayment':
        this.#prepaid(at, kind);
        break;
      case 'prepaymentNotMoney':
        this.#prepayment(this.#rng.pick(this.#privateClients), this.#rng.pick(['Pending', 'Failed', 'Aborted']));
        break;
      case 'consolidated':
        this.#consolidated(at);
        break;
      case 'voided':
        this.#voided(at);
        break;
      case 'draft':
        this.#invoice({ status: invoiceStatus.draft });
        break;
      case 'otherStatus':
        this.#invoice({ status: this.#rng.pick([invoiceStatus.sent, invoiceStatus.open, invoiceStatus.invoicing]) });
        break;
      default:
        this.#oddSale(kind);
    }
  }

  /** An invoice dated now. Half of the ordinary invoices are drafts for some minutes first. */
  #visit(at: number, settlement: Settlement): void {
    if (this.#rng.chance(0.5)) {
      this.#settle(this.#invoice(), settlement, at);
      return;
    }
    const draft = this.#invoice({ status: invoiceStatus.draft });
    this.#later(at, 40 * minuteMs, (when) => this.#settle(this.#clinic.finalise(draft.id), settlement, when));
  }

  /** The invoice of a visit, or of a counter sale. */
  #invoice(options: { status?: number; shop?: boolean; client?: Client } = {}): Invoice {
    const rng = this.#rng;
    const clinic = this.#clinic;
    const client = options.shop ? null : (options.client ?? rng.pick(clinic.clients.all()));
    const department = this.#department();
    const rows = visitRows(rng, clinic, client, options.shop);
    const { status = invoiceStatus.final } = options;
    if (client) return invoiceVisit(clinic, { client: client.id, department, rows, status });
    return clinic.createInvoice({ department, client: null, countersale: true, rows, status });
  }

  #settle(invoice: Invoice, settlement: Settlement, at: number): void {
    if (settlement === 'giftCard') this.#useGiftCard(invoice);
    if (payNow(this.#rng, this.#clinic, invoice, settlement)) {
      this.#later(at, 21 * dayMs, () => payRest(this.#clinic, invoice, settlement));
    }
  }

  /** Pays with the gift cards that were sold. The rest is left open. */
  #useGiftCard(invoice: Invoice): void {
    const used = Money.min(this.#giftCards, invoice.due_sum);
    if (!used.greaterThan(0)) return;
    this.#giftCards = this.#giftCards.minus(used);
    this.#clinic.pay(invoice.id, { payment_type: 9, paid: fixed(used, this.#clinic.decimals) });
  }

  /** A paid invoice that is credited later. The client gets the money back by the same payment type. */
  #credited(at: number, settlement: Settlement, credit: (invoice: Invoice, when: number) => Invoice | undefined): void {
    const invoice = this.#invoice();
    this.#settle(invoice, settlement, at);
    this.#later(at, 9 * dayMs, (when) => {
      const creditNote = credit(invoice, when);
      if (creditNote && !dec(creditNote.due_sum).isZero()) {
        this.#later(when, dayMs, () => this.#clinic.pay(creditNote.id, { payment_type: 0, info: 'Refund' }));
      }
    });
  }

  #cancelledPayment(at: number): void {
    const invoice = this.#invoice();
    if (dec(invoice.due_sum).isZero()) return;
    const payment = this.#clinic.pay(invoice.id, { payment_type: 0 });
    this.#later(at, dayMs, (when) => {
      this.#clinic.cancelPayment(payment.id, 'Wrong card', when);
      if (this.#rng.chance(0.8)) this.#clinic.pay(invoice.id, { payment_type: 7 });
    });
  }

  #prepaid(at: number, kind: 'prepaid' | 'prepaidRefunded' | 'unusedPrepayment'): void {
    const clinic = this.#clinic;
    const client = this.#rng.pick(this.#privateClients);
    const prepayment = this.#prepayment(client, 'Ready');
    if (kind === 'unusedPrepayment') {
      if (this.#rng.chance(0.3))
        this.#later(at, 10 * dayMs, () => clinic.refundPrepayment(prepayment.id, prepayment.unused_amount));
      return;
    }
    this.#later(at, 20 * dayMs, (when) => {
      const invoice = this.#invoice({ client });
      if (dec(invoice.due_sum).isPositive() && !dec(invoice.due_sum).isZero())
        clinic.applyPrepayment(prepayment.id, invoice.id);
      if (kind === 'prepaid') this.#settle(invoice, 'card', when);
      else if (!prepayment.fully_used) {
        this.#later(when, 5 * dayMs, () => clinic.refundPrepayment(prepayment.id, prepayment.unused_amount));
      }
    });
  }

  #prepayment(client: Client, status: Prepayment['status']): Prepayment {
    const rng = this.#rng;
    const till = rng.chance(0.3)
      ? { till: `K${rng.int(1, 4)}`, booking: { source: 'web', number: rng.int(1000, 9999) } }
      : {};
    return this.#clinic.takePrepayment({
      department: this.#department(),
      client: client.id,
      payment_type: rng.weighted([
        [7, 5],
        [0, 4],
        [2, 3],
        [1, 1],
      ] as const),
      paid: fixed(dec(rng.int(2, 40) * 10).times(this.#clinic.decimals === 0 ? 100 : 1), this.#clinic.decimals),
      description: rng.pick(['Deposit for surgery', 'Treatment plan', 'Boarding deposit', '']),
      status,
      external_info: till,
    });
  }

  /** Three invoices of one company, one of them partly paid, which are collected in one invoice. */
  #consolidated(at: number): void {
    const client = this.#rng.pick(this.#companies);
    const department = this.#department();
    const rows = () => visitRows(this.#rng, this.#clinic, client);
    const members = [0, 1, 2].map(() => this.#clinic.createInvoice({ department, client: client.id, rows: rows() }));
    const first = members[0] as Invoice;
    const part = fixed(dec(first.due_sum).times('0.3'), this.#clinic.decimals);
    if (!dec(part).isZero()) this.#clinic.pay(first.id, { payment_type: 0, paid: part });
    this.#later(at, 8 * dayMs, (when) => {
      const collector = this.#clinic.consolidate(members.map((member) => member.id));
      this.#settle(collector, 'bankLater', when);
    });
  }

  /**
   * A final invoice that is voided later. Half of these invoices are paid, and most of those payments are cancelled.
   */
  #voided(at: number): void {
    const invoice = this.#invoice();
    const pays = this.#rng.chance(0.5) && !dec(invoice.due_sum).isZero();
    const payment = pays ? this.#clinic.pay(invoice.id, { payment_type: 0 }) : null;
    this.#later(at, 3 * dayMs, (when) => {
      this.#clinic.voidInvoice(invoice.id);
      if (payment && this.#rng.chance(0.8)) this.#clinic.cancelPayment(payment.id, 'Invoice voided', when);
    });
  }

  #oddSale(kind: 'negativeInvoice' | 'zeroInvoice' | 'giftCardSale'): void {
    const department = this.#department();
    const client = this.#rng.pick(this.#privateClients).id;
    const exempt = { vat_percentage: '0.00', vat_group: vatGroups.exempt };
    if (kind === 'negativeInvoice') {
      const row = { name: 'Cage deposit returned', sum: '-40.00', account_number: '3110', ...exempt };
      const invoice = this.#clinic.createInvoice({ department, client, rows: [row] });
      this.#clinic.pay(invoice.id, { payment_type: 1, info: 'Paid back' });
    } else if (kind === 'zeroInvoice') {
      this.#clinic.createInvoice({
        department,
        client,
        rows: [{ name: 'Check-up in the price', sum: '0.00', ...exempt }],
      });
    } else {
      const row = { name: 'Gift card', sum: '50.00', account_number: giftCardAccount, ...exempt };
      const invoice = this.#clinic.createInvoice({ department, client, countersale: true, rows: [row] });
      this.#clinic.pay(invoice.id, { payment_type: 0 });
      this.#giftCards = this.#giftCards.plus(invoice.total_with_vat);
    }
  }

  #firstRow(invoice: Invoice): number[] {
    return this.#clinic.invoiceRows
      .of(invoice.id)
      .slice(0, 1)
      .map((row) => row.id);
  }

  #department(): number {
    return this.#rng.weighted([
      [11, 50],
      [12, 32],
      [13, 18],
    ] as const);
  }

  /** Schedules `run` at a random time within `spanMs` after `at`, but before the end of the history. */
  #later(at: number, spanMs: number, run: (when: number) => void): void {
    const span = Math.min(spanMs, this.#endMs - at - 1);
    this.#agenda.add(at + Math.floor(this.#rng.next() * Math.max(0, span)), run);
  }

  /**
   * A random opening hour before the end of the history. Weekends are rare. A few hours are emergencies as late as 2
   * a.m., when the date in UTC is still the day before.
   */
  #openingHour(): number {
    const rng = this.#rng;
    const days = Math.max(1, Math.round((this.#endMs - this.#startMs) / dayMs));
    const first = this.#clinic.zone.date(this.#startMs);
    for (let attempt = 0; attempt < 20; attempt++) {
      const date = addDays(first, rng.int(0, days));
      const weekday = new Date(date).getUTCDay();
      if (rng.chance(weekday === 0 ? 0.85 : weekday === 6 ? 0.5 : 0)) continue;
      const minute = rng.chance(0.06) ? rng.int(1200, 1560) : rng.int(480, 1199);
      const at = this.#clinic.zone.at(date, minute) + rng.int(0, 59_999);
      if (at > this.#startMs && at < this.#endMs - hourMs) return at;
    }
    return this.#startMs + Math.floor(rng.next() * (this.#endMs - this.#startMs - hourMs));
  }
}
