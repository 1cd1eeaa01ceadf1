import type { Party } from '../domain/entry.ts';
import { type Money, roundHalfEven, sum, zero } from '../domain/money.ts';
import { consolidatedPayment } from '../records/source-codes.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';

/** VAT on payment (ACCOUNTING R13): when the VAT of invoices becomes due. Amounts are signed as in the source. */

/** The VAT of a group that is not due with the invoice itself, and the net amount of the group. */
export interface DueGroup {
  group: string | null;
  rate: Money | null;
  vat: Money;
  net: Money;
  /** The account for the group's VAT that is not due. */
  account: string;
}

/** An invoice or credit note whose VAT is due with payments: in the books, or part of the opening balances. */
export interface DueInvoice {
  id: number;
  /** The total of its entry in force. For an invoice of the opening balances, the total that R1 would give. */
  total: Money;
  groups: readonly DueGroup[];
  role: 'vat_not_due' | 'opening_vat_not_due';
  documentNumber: string | null;
  party: Party | null;
  departmentId: number | null;
  /** The day whose VAT accounts apply. */
  day: CalendarDate;
  /** The day on which all of its VAT becomes due without a payment. Null if there is none. */
  latest: CalendarDate | null;
  /** The position of the first entry for that day among all first postings. Null if none was posted. */
  latestPlace: number | null;
  /** The first original of the invoice's chain of credit notes, and how many credit notes lead to it. Null if unknown. */
  chain: { first: number; depth: number } | null;
  /** The consolidated invoice that contains the invoice; null if there is none. */
  collector: number | null;
  /** True if the invoice is part of the opening balances and its VAT is unknown. */
  isUnknown: boolean;
}

export interface DuePayment {
  id: number;
  invoiceId: number;
  type: number;
  amount: Money;
  date: CalendarDate;
  /** The position of the payment among all first postings; -1 if it is part of the opening balances. Null if it was never posted. */
  place: number | null;
  /** Whether it has an entry in force, or is part of the opening balances. */
  counts: boolean;
}

/** A payment of type 12 that the source shows, posted or not. */
export interface SeenSettlement {
  id: number;
  invoiceId: number;
  amount: Money;
}

/**
 * The facts on which the VAT of some invoices depends: these invoices, their chains, their consolidated invoices, and all
 * payments of these.
 */
export interface DueBooks {
  invoices: ReadonlyMap<number, DueInvoice>;
  /** Key: invoice id. */
  payments: ReadonlyMap<number, readonly DuePayment[]>;
  /** Key: invoice id. */
  settlements: ReadonlyMap<number, readonly SeenSettlement[]>;
  /** The invoices of each chain; the key is the id of its first original. */
  chains: ReadonlyMap<number, readonly number[]>;
  /** The members of each consolidated invoice; the key is its id. */
  members: ReadonlyMap<number, readonly number[]>;
}

/** The paid amount of an invoice, and its VAT after credit notes were set off. */
export interface DueState {
  /** Key: `keyOfGroup`. */
  groups: ReadonlyMap<string, DueGroup>;
  total: Money;
  /** The sum of the invoice's own payments. */
  paid: Money;
  /** The sum of the payments of its consolidated invoice. */
  collected: Money;
  /** True if all VAT is due, independent of payments. */
  isAll: boolean;
}

/** A payment, or the latest day of an invoice, with its effect on the invoice. */
export interface DueStep {
  by: DocumentRef;
  invoice: DueInvoice;
  before: DueState;
  after: DueState;
  /** The amount that counts as paid before and after the step, in the invoice's currency. */
  paid: { before: Money; after: Money };
  /** True if the payment is part of the opening balances. Then no entry moves its VAT. */
  isOpening: boolean;
}

/** The VAT of a group that becomes due with a step, and its base. */
export interface DueMove {
  group: string | null;
  rate: Money | null;
  vat: Money;
  base: Money;
  account: string;
}

interface Event {
  by: DocumentRef;
  date: CalendarDate;
  place: number;
  apply: (state: DueState) => DueState;
}

/** The steps of one invoice in order. Steps of the opening balances come first. */
export function dueSteps(books: DueBooks, id: number, decimals: number): DueStep[] {
  const invoice = books.invoices.get(id);
  if (invoice === undefined || invoice.isUnknown) return [];
  const setOffs = setOffsOf(books, invoice, decimals);
  const own = setOffs.filter(({ giver, receiver }) => giver === id || receiver === id);
  const groups = new Map(
    [...invoice.groups, ...own.flatMap(({ moved }) => moved)].map((group) => [
      keyOfGroup(group),
      { ...group, vat: zero, net: zero },
    ]),
  );
  for (const group of invoice.groups) groups.set(keyOfGroup(group), group);
  if (groups.size === 0) return [];
  const collector = collectorOf(books, invoice);
  const consolidated = collector === null ? zero : consolidatedOf(books, id);
  const paidOf = ({ paid, collected }: DueState) =>
    collector === null || consolidated.isZero()
      ? paid
      : paid.plus(consolidated.times(held(collected, collector.total)).dividedBy(collector.total));

  const isLate = ({ date, place }: Event) =>
    invoice.latest !== null && (date > invoice.latest || (invoice.latestPlace !== null && place > invoice.latestPlace));
  const events = [...eventsOf(books, invoice, own, collector), ...collectedEvents(books, collector)].sort(byPlace);
  const atLatest: Event[] =
    invoice.latest === null
      ? []
      : [
          {
            by: { kind: 'vat_due', id },
            date: invoice.latest,
            place: invoice.latestPlace ?? Number.POSITIVE_INFINITY,
            apply: (state) => ({ ...state, isAll: true }),
          },
        ];
  const ordered = [...events.filter((event) => !isLate(event)), ...atLatest, ...events.filter(isLate)];
  let state: DueState = { groups, total: invoice.total, paid: zero, collected: zero, isAll: false };
  return ordered.map(({ by, place, apply }) => {
    const before = state;
    state = apply(state);
    return {
      by,
      invoice,
      before,
      after: state,
      paid: { before: paidOf(before), after: paidOf(state) },
      isOpening: place < 0,
    };
  });
}

function byPlace(one: Event, other: Event): number {
  // A place may be infinite. The difference of two infinite places is NaN, so places are compared and not subtracted.
  return one.place === other.place ? one.by.id - other.by.id : one.place < other.place ? -1 : 1;
}

/**
 * The payments of the invoice itself. If its consolidated invoice is known, payments of type 6 are left out, because the payments
 * of the consolidated invoice count instead.
 */
function eventsOf(
  books: DueBooks,
  invoice: DueInvoice,
  setOffs: readonly SetOff[],
  collector: DueInvoice | null,
): Event[] {
  return (books.payments.get(invoice.id) ?? []).flatMap((payment): Event[] => {
    if (!payment.counts || (payment.type === consolidatedPayment && collector !== null)) return [];
    const setOff = setOffs.find(({ ofGiver, ofReceiver }) => ofGiver === payment.id || ofReceiver === payment.id);
    const event = eventOf(payment);
    if (setOff === undefined)
      return [{ ...event, apply: (state) => ({ ...state, paid: state.paid.plus(payment.amount) }) }];
    const sign = setOff.ofGiver === payment.id ? -1 : 1;
    return [{ ...event, apply: (state) => withSetOff(state, setOff, sign) }];
  });
}

function collectedEvents(books: DueBooks, collector: DueInvoice | null): Event[] {
  if (collector === null) return [];
  return (books.payments.get(collector.id) ?? []).flatMap((payment): Event[] => {
    if (!payment.counts) return [];
    const apply = (state: DueState) => ({ ...state, collected: state.collected.plus(payment.amount) });
    return [{ ...eventOf(payment), apply }];
  });
}

function eventOf({ id, date, place }: DuePayment): Omit<Event, 'apply'> {
  return { by: { kind: 'payment', id }, date, place: place ?? Number.POSITIVE_INFINITY };
}

/** The consolidated invoice whose payments show the paid part of this invoice; null if there is none. */
function collectorOf(books: DueBooks, { collector }: DueInvoice): DueInvoice | null {
  const found = collector === null ? undefined : books.invoices.get(collector);
  return found === undefined || found.total.isZero() ? null : found;
}

/** The sum of the invoice's payments of type 6, which moved it to the consolidated invoice. */
function consolidatedOf(books: DueBooks, invoice: number): Money {
  const payments = books.payments.get(invoice) ?? [];
  return sum(payments.flatMap(({ counts, type, amount }) => (counts && type === consolidatedPayment ? amount : [])));
}

/**
 * The part of a credit note (the giver) that is set off against another document (the receiver), by two payments of type 12 with
 * opposite amounts.
 */
interface SetOff {
  giver: number;
  receiver: number;
  ofGiver: number;
  ofReceiver: number;
  total: Money;
  moved: readonly DueGroup[];
}

/**
 * The set-offs in the chain of an invoice. Two payments of type 12 with opposite amounts on two of its documents are a pair; the
 * lowest ids are paired first. The document that is further from the first original is the giver.
 */
function setOffsOf(books: DueBooks, { chain }: DueInvoice, decimals: number): SetOff[] {
  if (chain === null) return [];
  const documents = (books.chains.get(chain.first) ?? []).flatMap((id) => {
    const found = books.invoices.get(id);
    return found === undefined || found.isUnknown || found.total.isZero() ? [] : found;
  });
  if (documents.length < 2) return [];
  const waiting = documents
    .flatMap((document) => (books.settlements.get(document.id) ?? []).map((payment) => ({ document, payment })))
    .filter(({ payment }) => !payment.amount.isZero())
    .sort((a, b) => a.payment.id - b.payment.id);
  const pairs: { giver: (typeof waiting)[number]; receiver: (typeof waiting)[number] }[] = [];
  while (waiting.length > 1) {
    const one = waiting.shift();
    if (one === undefined) break;
    const at = waiting.findIndex(
      (other) => other.document.id !== one.document.id && other.payment.amount.equals(one.payment.amount.negated()),
    );
    const [other] = at === -1 ? [] : waiting.splice(at, 1);
    if (other === undefined) continue;
    const [giver, receiver] = isDeeper(one.document, other.document) ? [one, other] : [other, one];
    pairs.push({ giver, receiver });
  }
  const given = new Map<number, Money>();
  return pairs
    .sort((a, b) => a.giver.payment.id - b.giver.payment.id)
    .map(({ giver: { document, payment }, receiver }) => {
      const before = given.get(document.id) ?? zero;
      const after = before.plus(payment.amount);
      given.set(document.id, after);
      const part = (amount: Money, of: Money) =>
        roundHalfEven(amount.times(held(of, document.total)).dividedBy(document.total), decimals);
      const partMoved = (amount: Money) => part(amount, after).minus(part(amount, before));
      return {
        ...{ giver: document.id, receiver: receiver.document.id },
        ...{ ofGiver: payment.id, ofReceiver: receiver.payment.id },
        total: held(after, document.total).minus(held(before, document.total)),
        moved: document.groups.map((group) => ({ ...group, vat: partMoved(group.vat), net: partMoved(group.net) })),
      };
    });
}

function isDeeper(one: DueInvoice, other: DueInvoice): boolean {
  const [depth, otherDepth] = [one.chain?.depth ?? 0, other.chain?.depth ?? 0];
  return depth === otherDepth ? one.id > other.id : depth > otherDepth;
}

function withSetOff(state: DueState, { total, moved }: SetOff, sign: 1 | -1): DueState {
  const groups = new Map(state.groups);
  for (const group of moved) {
    const own = groups.get(keyOfGroup(group)) ?? { ...group, vat: zero, net: zero };
    groups.set(keyOfGroup(group), {
      ...own,
      vat: own.vat.plus(group.vat.times(sign)),
      net: own.net.plus(group.net.times(sign)),
    });
  }
  return { ...state, groups, total: state.total.plus(total.times(sign)) };
}

/** The VAT that becomes due with a step, by group. Groups whose due VAT does not change are left out. */
export function movesOf({ before, after, paid }: DueStep, decimals: number): DueMove[] {
  const [dueBefore, dueAfter] = [dueOf(before, paid.before, decimals), dueOf(after, paid.after, decimals)];
  return [...after.groups].flatMap(([key, { group, rate, account }]) => {
    const vat = (dueAfter.get(key)?.vat ?? zero).minus(dueBefore.get(key)?.vat ?? zero);
    if (vat.isZero()) return [];
    const base = (dueAfter.get(key)?.net ?? zero).minus(dueBefore.get(key)?.net ?? zero);
    return [{ group, rate, account, vat, base }];
  });
}

/** The due VAT and net amount by group. Key: `keyOfGroup`. */
export function dueOf(
  { groups, total, isAll }: DueState,
  paid: Money,
  decimals: number,
): Map<string, { vat: Money; net: Money }> {
  const isWhole = isAll || total.isZero();
  const part = (amount: Money) =>
    isWhole ? amount : roundHalfEven(amount.times(held(paid, total)).dividedBy(total), decimals);
  return new Map([...groups].map(([key, { vat, net }]) => [key, { vat: part(vat), net: part(net) }]));
}

/** An amount, limited to the range between zero and the total. */
function held(amount: Money, total: Money): Money {
  if (total.isNegative()) return held(amount.negated(), total.negated()).negated();
  return amount.isNegative() ? zero : amount.greaterThan(total) ? total : amount;
}

export function keyOfGroup({ group, rate }: Pick<DueGroup, 'group' | 'rate'>): string {
  return JSON.stringify([group, rate?.toFixed() ?? null]);
}

/** The books with the present facts of a payment. A posted payment keeps its position; a new one comes after all others. */
export function withPayment(books: DueBooks, payment: Omit<DuePayment, 'place' | 'counts'>): DueBooks {
  let place: number | null = null;
  const payments = new Map<number, readonly DuePayment[]>();
  for (const [invoice, its] of books.payments) {
    const known = its.find(({ id }) => id === payment.id);
    place ??= known?.place ?? null;
    payments.set(invoice, known === undefined ? its : its.filter((each) => each !== known));
  }
  const others = payments.get(payment.invoiceId) ?? [];
  return { ...books, payments: payments.set(payment.invoiceId, [...others, { ...payment, place, counts: true }]) };
}

/** The steps that a payment causes: for its invoice, or for the members if the invoice is a consolidated one. */
export function stepsOfPayment(books: DueBooks, { id, invoiceId }: SeenPayment, decimals: number): DueStep[] {
  return [invoiceId, ...(books.members.get(invoiceId) ?? [])].flatMap((target) =>
    dueSteps(books, target, decimals).filter(({ by }) => by.kind === 'payment' && by.id === id),
  );
}

type SeenPayment = Pick<DuePayment, 'id' | 'invoiceId'>;
