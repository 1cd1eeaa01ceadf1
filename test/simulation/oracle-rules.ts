// The oracle: what each document is by ACCOUNTING, computed from the source's records without src/posting or
// src/reconcile. Debits are positive.
import { Decimal } from 'decimal.js';
import type { Invoice, InvoicePayment, InvoiceRow } from '../../sandbox/src/records.ts';
import type { DocumentRef } from '../../src/terms.ts';
import {
  accountOfPayment,
  accountOfRevenue,
  accountOfVat,
  type GroupKey,
  lineOfGroup,
  roleSoldTo,
} from './oracle-accounts.ts';
import { D, type Group, grouped, settleCents, total0 } from './oracle-cents.ts';
import { invoiceRemarks, payerName, saleRemarks } from './oracle-remarks.ts';
import { type Share, shareOf, vatAtReceipt, vatLines } from './oracle-shares.ts';
import {
  creditOf,
  type Dating,
  type ExpectedLine,
  keysOf,
  type RuleConditions,
  receivableOf,
  type SourceView,
  snapshotOf,
  type Verdict,
} from './oracle-terms.ts';

const held = (why: string): Verdict => ({ state: 'held', why });
const noTags = [null, null, null, null, null, null];

export class Rules {
  readonly #mirror: SourceView;
  readonly #decimals: number;
  readonly #exposed: boolean;
  readonly #dayOf: (ms: number) => string;

  constructor(mirror: SourceView, setting: { decimals: number; timezone: string; exposeVatGroup: boolean }) {
    this.#mirror = mirror;
    this.#decimals = setting.decimals;
    this.#exposed = setting.exposeVatGroup;
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: setting.timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    this.#dayOf = (ms) => format.format(ms);
  }

  /** `taken` is the document's first date. The result also has its current date. */
  verdict(
    document: DocumentRef,
    now: RuleConditions,
    taken: string | null,
  ): { verdict: Verdict; taken: string | null } {
    if (document.kind === 'invoice') return { verdict: this.#invoice(document.id, now), taken: null };
    return document.kind === 'payment'
      ? this.#payment(document.id, now, taken)
      : this.#prepayment(document.id, now, taken);
  }

  #invoice(id: number, now: RuleConditions): Verdict {
    const { source, damage, gone } = this.#mirror.invoices.get(id)!;
    if (gone) return { state: 'gone' };
    const status = damage?.field === 'status' ? null : source.status;
    if (status !== null && [0, 1, 2, 4].includes(status)) return { state: 'not_final' };
    if (status !== 3 && status !== 99) return held('unknown status');
    const date = damage?.field === 'invoice_date' ? null : source.invoice_date;
    if (date !== null && now.startDate !== null && date < now.startDate) {
      // An invoice created later is late, so the accountant must decide if it would be posted.
      const { recorded } = this.#datingOf(id);
      if (status === 99 || recorded === null || recorded < now.startDate) return { state: 'before_start' };
    }
    if (status === 99) return { state: 'voided' };
    if (date === null) return held('no date');
    if (damage && !['due_sum', 'created'].includes(damage.field)) return held(`damaged ${damage.field}`);
    const party = this.#partyOf(source, now);
    if (party === null) return held('no cash customer');
    // P6 also applies to a consolidated invoice, although its rows are not posted.
    const rows = this.#mirror.rowSets.get(id)?.rows ?? [];
    if (rows.some((row) => Number(row.damage?.value) > 10_000_000))
      return held('a row of an amount that no practice has');
    const total = new D(source.total_with_vat);
    return source.consolidated_invoices.length > 0
      ? this.#collector(source, total, party, now)
      : this.#sale(source, total, party, now);
  }

  /** A credit note may be as old as the first original of its chain. */
  #datingOf(id: number): Dating {
    const { source, damage, firstSeenAt = null } = this.#mirror.invoices.get(id)!;
    const created = damage?.field === 'created' ? firstSeenAt : source.created;
    const original = this.#originalDate(id);
    const mayBeOld = source.credit_note && original !== null && source.invoice_date >= original;
    return { recorded: created === null ? null : this.#dayOf(created), mayBeOld };
  }

  /** The invoice date of the first original of a credit note's chain; null if it is unknown. */
  #originalDate(id: number): string | null {
    const chain = new Set<number>();
    for (let next: number | null = id; next !== null && !chain.has(next); ) {
      chain.add(next);
      const seen = this.#mirror.invoices.get(next);
      if (seen === undefined) return null;
      if (!seen.source.credit_note) return seen.damage?.field === 'invoice_date' ? null : seen.source.invoice_date;
      next = seen.source.credit_note_original_invoice;
    }
    return null;
  }

  #collector(source: Invoice, total: D, party: string, now: RuleConditions): Verdict {
    if (total.isZero()) return { state: 'nothing_to_post' };
    const { receivable, consolidation_clearing } = now.mapping.roles;
    if (!receivable || !consolidation_clearing) return held('role unmapped');
    const lines = [
      this.#line(source, party, {
        role: 'receivable',
        account: receivable,
        amount: total,
        receivable: receivableOf(source),
      }),
      this.#line(source, party, {
        role: 'consolidation_clearing',
        account: consolidation_clearing,
        amount: total.negated(),
      }),
    ];
    return this.#posted(source, lines, [creditOf(source)], []);
  }

  #sale(source: Invoice, total: D, party: string, now: RuleConditions): Verdict {
    const seen = this.#mirror.rowSets.get(source.id);
    if (!seen || seen.at < source.modified) return held('stale rows');
    const [net, tax] = [new D(source.total), new D(source.total_vat)];
    if (seen.rows.length === 0 && !(net.isZero() && tax.isZero() && total.isZero())) return held('no rows');
    if (seen.rows.some((row) => row.damage !== null)) return held('a damaged row');
    const rows = seen.rows.map((row) => row.source);
    const unit = new D(10).pow(-this.#decimals);
    const sums = (['sum', 'sum_vat', 'sum_total'] as const).map((field) => total0(rows.map((row) => row[field])));
    const rounded = sums.map((sum) => sum.toDecimalPlaces(this.#decimals, Decimal.ROUND_HALF_EVEN));
    if (![net, tax, total].every((law, at) => law.equals(rounded[at]!))) return held('totals disagree');
    const apart = (a: D, b: D, c: D) => a.plus(b).minus(c).abs().greaterThan(unit);
    if (apart(net, tax, total) || rows.some((row) => apart(new D(row.sum), new D(row.sum_vat), new D(row.sum_total)))) {
      return held('totals disagree');
    }
    return this.#settled(source, rows, { total, tax, unit }, party, now);
  }

  #settled(
    source: Invoice,
    rows: InvoiceRow[],
    { total, tax, unit }: Law,
    party: string,
    now: RuleConditions,
  ): Verdict {
    const byCredited = rows.every((row) => row.credited_invoicerow !== null);
    const tieOf = (row: InvoiceRow) => (byCredited ? row.credited_invoicerow! : row.id);
    const ordered = [...rows].sort((a, b) => tieOf(a) - tieOf(b) || a.id - b.id);
    const vatOf = (row: InvoiceRow) =>
      this.#exposed
        ? [row.vat_group.name.trim() || null, new D(row.vat_group.percentage).toFixed()]
        : [null, new D(row.vat_percentage).toFixed()];
    const tagsOf = (row: InvoiceRow) => [
      row.reporting_dimension_1,
      row.reporting_dimension_2,
      row.reporting_dimension_3,
      row.invoice_row_extra.account_number,
      row.invoice_row_extra.reporting_dimension_1,
      row.invoice_row_extra.reporting_dimension_2,
    ];
    const netKey = (row: InvoiceRow) => [row.account_number.trim() || null, tagsOf(row), vatOf(row)];
    const all = grouped(ordered, netKey, 'sum', tieOf);
    const nets = all.filter(({ exact }) => !exact.isZero());
    const vats = grouped(ordered, vatOf, 'sum_vat', tieOf).filter(({ exact }) => !exact.isZero());
    const signs = [total, tax, ...ordered.map((row) => new D(row.sum)), ...ordered.map((row) => new D(row.sum_vat))];
    const turn = signs.find((amount) => !amount.isZero())?.isNegative() ?? false;
    const validOn = source.credit_note ? this.#originalDate(source.id) : source.invoice_date;
    const day = validOn ?? source.invoice_date;
    const keyOf = (row: InvoiceRow): GroupKey => ({ group: vatOf(row)[0]!, rate: vatOf(row)[1]! });
    const soldTo = ({ rows: [row] }: Group) => roleSoldTo(now.mapping, row!.account_number.trim());
    const owed = nets.filter((group) => soldTo(group) !== null);
    // A group with only VAT counts too; a group with neither net nor VAT is left out.
    const hasVat = ({ rows: own, exact }: Group) =>
      !total0(own.map((row) => row.sum_vat)).isZero() || (!exact.isZero() && vatOf(own[0]!)[1] !== '0');
    if (all.some((group) => soldTo(group) !== null && hasVat(group))) return held('a voucher with VAT');
    const taking = [...nets.filter((group) => soldTo(group) === null), ...vats].map(({ rows: [row] }) => keyOf(row!));
    const isExpired = taking.some(
      (key) => validOn !== null && lineOfGroup(now.mapping, key, validOn)?.isValid === false,
    );
    if (isExpired && now.mapping.policies.vat_rate_expired === 'hold') return held('a VAT group that has expired');
    // The mapping decides which groups are liabilities, which are settled first in whole units. The facts come from the
    // source alone.
    const asSource = nets.map((group) => ({ ...group }));
    const first = owed.filter(({ exact }) => exact.decimalPlaces() <= this.#decimals);
    for (const group of first) group.settled = group.exact;
    const left = first.reduce((sum, { exact }) => sum.minus(exact), total.minus(tax));
    const others = nets.filter((group) => !first.includes(group));
    if (!settleCents(others, left, unit, turn) || !settleCents(vats, tax, unit, turn)) return held('cents unsettled');
    if (!settleCents(asSource, total.minus(tax), unit, turn)) throw new Error('settled by the mapping only');

    const sold = nets.filter((group) => soldTo(group) === null).map(({ rows: [row] }) => keyOf(row!));
    const rateOf = (row: InvoiceRow) => vatOf(row)[1]!;
    const remarks = saleRemarks(source, rows, rateOf, { sold, isExpired, day, unit }, now.mapping);
    const lines: ExpectedLine[] = [];
    const facts: unknown[] = [creditOf(source)];
    const missing: string[] = [];
    if (!total.isZero()) {
      const account = now.mapping.roles.receivable ?? '';
      if (!account) missing.push('receivable');
      lines.push(
        this.#line(source, party, { role: 'receivable', account, amount: total, receivable: receivableOf(source) }),
      );
    }
    const taxed = new Set(
      vats.filter(({ settled }) => !settled.isZero()).map(({ rows: [row] }) => JSON.stringify(vatOf(row!))),
    );
    for (const group of nets) {
      const { rows: own, settled } = group;
      if (settled.isZero()) continue;
      const row = own[0]!;
      const number = row.account_number.trim();
      const role = soldTo(group);
      const account = role
        ? (now.mapping.roles[role] ?? '')
        : number
          ? accountOfRevenue(now.mapping, number, keyOf(row), day)
          : '';
      if (!account) missing.push(`revenue ${number}`);
      const isOutside = lineOfGroup(now.mapping, keyOf(row), day)?.kind === 'outside';
      const base = role || isOutside || taxed.has(JSON.stringify(vatOf(row))) ? null : settled.abs().toFixed();
      const vat = { group: vatOf(row)[0]!, rate: vatOf(row)[1]!, base };
      const tags = tagsOf(row);
      lines.push(this.#line(source, party, { role: role ?? 'revenue', account, amount: settled.negated(), tags, vat }));
    }
    for (const { rows: own, settled } of asSource) {
      const [group, rate] = vatOf(own[0]!);
      if (!settled.isZero())
        facts.push(['net', own[0]!.account_number.trim(), tagsOf(own[0]!), group, rate, settled.toFixed()]);
    }
    for (const { rows: own, settled } of vats) {
      if (settled.isZero()) continue;
      const [group, rate] = vatOf(own[0]!);
      const named = this.#exposed
        ? [...new Set(own.map((row) => row.vat_group.account_number.trim()).filter(Boolean))].sort()
        : [];
      const account = accountOfVat(now.mapping, keyOf(own[0]!), named, day);
      if (!account) missing.push(`VAT ${group}`);
      const mine = nets.filter(
        (net) => !soldTo(net) && JSON.stringify(vatOf(net.rows[0]!)) === JSON.stringify([group, rate]),
      );
      const of = mine.reduce((sum, { settled: part }) => sum.plus(part), new D(0));
      const base = (settled.isNegative() ? of.negated() : of).plus(0).toFixed();
      const vat = { group: group!, rate: rate!, base: base === '-0' ? '0' : base };
      lines.push(this.#line(source, party, { role: 'vat', account, amount: settled.negated(), vat }));
      facts.push(['vat', group, rate, named, settled.toFixed()]);
    }
    if (missing.length > 0) return held(`unmapped: ${missing.join(', ')}`);
    return lines.length === 0 ? { state: 'nothing_to_post' } : this.#posted(source, lines, facts, remarks);
  }

  #payment(id: number, now: RuleConditions, before: string | null): { verdict: Verdict; taken: string | null } {
    const { source, damage, gone, firstSeenAt = null } = this.#mirror.payments.get(id)!;
    const recorded = firstSeenAt === null ? null : this.#dayOf(firstSeenAt);
    let taken = before ?? (damage?.field === 'date_added' ? null : this.#dayOf(source.date_added));
    const seen = this.#mirror.invoices.get(source.invoice);
    const answer = (verdict: Verdict) => ({ verdict, taken });
    if (gone) return answer({ state: 'gone' });
    if (!seen) return answer(held('unknown invoice'));
    if (taken === null) return answer(held('no date'));
    const invoice = seen.source;
    const { startDate, mapping } = now;
    const invoiceDate = seen.damage?.field === 'invoice_date' ? null : invoice.invoice_date;
    let role: 'receivable' | 'opening_receivable' = 'receivable';
    if (startDate !== null && (invoiceDate === null || invoiceDate < startDate || taken < startDate)) {
      if (invoiceDate === null && taken < startDate) return answer(held('its invoice has no date'));
      const isLate = recorded !== null && recorded >= startDate;
      if (invoiceDate !== null && invoiceDate < startDate && taken < startDate && !isLate) {
        return answer({ state: 'before_start' });
      }
      if (invoiceDate !== null && invoiceDate < startDate) {
        if (!now.decidedIn?.has(source.invoice)) role = 'opening_receivable';
      } else if (taken < startDate) taken = invoiceDate!;
    }
    if (damage && damage.field !== 'date_added') return answer(held(`damaged ${damage.field}`));
    if (seen.damage?.field === 'client') return answer(held('its invoice names a client of nobody'));
    const paid = new D(source.paid);
    if (paid.isZero()) return answer({ state: 'nothing_to_post' });
    if (source.payment_type === 3 && paid.abs().greaterThan(1)) return answer(held('no rounding'));
    const party = this.#partyOf(invoice, now);
    if (party === null) return answer(held('no cash customer'));
    if (seen.damage?.field === 'invoice_due_date') return answer(held('its invoice has no readable due date'));
    const target = accountOfPayment(mapping, source.payment_type, invoice.department);
    const account = mapping.roles[role];
    if (!target || !account) return answer(held('unmapped'));
    const isUse = source.payment_type === 8;
    const liable = isUse ? this.#liable(source, invoice, now) : null;
    const isUnmatched = isUse && !this.#isMatched(source);
    const own = liable ?? party;
    const snapshot = liable === null ? snapshotOf(invoice) : [null, null];
    const paymentType = source.payment_type;
    const lines = [
      { ...this.#moneyLine(invoice.department, target, own, snapshot, paid, now), paymentType },
      this.#line(invoice, party, {
        role,
        account,
        amount: paid.negated(),
        paymentType,
        receivable: receivableOf(invoice),
      }),
    ];
    const used = liable === null ? null : source.prepayment;
    const back = this.#givenBack(`payment/${id}`, used, paid, { party: own, department: invoice.department }, now);
    const facts = [
      paymentType,
      paid.toFixed(),
      role,
      invoice.id,
      party,
      keysOf(invoice),
      invoice.department,
      receivableOf(invoice),
      { liable, shares: back.facts },
    ];
    const dating = { recorded, mayBeOld: source.payment_type === 12 };
    return answer({
      ...{ state: 'posted', date: taken, lines: [...lines, ...back.lines] },
      ...{ facts: JSON.stringify([taken, facts]), dating, share: back.share, name: payerName(invoice) },
      remarks: isUnmatched ? ['prepayment_unmatched'] : [],
      ...(isUnmatched ? { unmatched: invoice.client } : {}),
    });
  }

  /** R7: the client of the used prepayment. Before the installation has read the prepayment, the invoice's client. */
  #liable(payment: InvoicePayment, invoice: Invoice, now: RuleConditions): string | null {
    const unmatched = this.#mirror.unmatched?.get(payment.id);
    if (unmatched !== undefined) return unmatched;
    const used = payment.prepayment === null ? undefined : this.#mirror.prepayments.get(payment.prepayment);
    const client = used?.source.client ?? now.firstClients?.get(payment.id) ?? invoice.client;
    return client === null ? null : `client:${client}`;
  }

  #isMatched({ prepayment }: InvoicePayment): boolean {
    return prepayment !== null && this.#mirror.prepayments.has(prepayment);
  }

  #prepayment(id: number, now: RuleConditions, before: string | null): { verdict: Verdict; taken: string | null } {
    const { source, damage, gone } = this.#mirror.prepayments.get(id)!;
    const taken = before ?? this.#dayOf(source.created);
    const answer = (verdict: Verdict) => ({ verdict, taken });
    if (gone) return answer({ state: 'gone' });
    if (damage?.field === 'status') return answer(held('unknown status'));
    if (['Pending', 'Failed', 'Aborted'].includes(source.status)) return answer({ state: 'not_money' });
    if (now.startDate !== null && taken < now.startDate) return answer({ state: 'before_start' });
    if (damage) return answer(held(`damaged ${damage.field}`));
    const paid = new D(source.paid);
    if (paid.isZero()) return answer({ state: 'nothing_to_post' });
    if ([6, 8].includes(source.payment_type)) return answer(held('refused type'));
    const target = accountOfPayment(now.mapping, source.payment_type, source.department);
    const account = now.mapping.roles.prepayment_liability;
    if (!target || !account) return answer(held('unmapped'));
    const original = source.refunds === null ? undefined : this.#mirror.prepayments.get(source.refunds);
    const client = original?.source.client ?? source.client;
    const party = `client:${client}`;
    const paymentType = source.payment_type;
    const plain = {
      party,
      snapshot: [null, null],
      department: source.department,
      tags: noTags,
      vat: null,
      receivable: null,
    };
    const lines = [
      { ...this.#moneyLine(source.department, target, party, [null, null], paid, now), paymentType },
      { ...plain, role: 'prepayment_liability', account, amount: paid.negated(), paymentType },
    ];
    const received = vatAtReceipt(source, taken, now.mapping, this.#decimals);
    if (received === 'unmapped') return answer(held('no account for its VAT'));
    const common = { party, department: source.department };
    const refunded = paid.isNegative() ? source.refunds : null;
    const back = this.#givenBack(`prepayment/${id}`, refunded, paid.negated(), common, now);
    const own = received === null ? [] : vatLines(received.vat, paid, received, common);
    const facts = [paymentType, paid.toFixed(), client, source.department, { shares: back.facts }];
    const dating = { recorded: null, mayBeOld: true };
    return answer({
      ...{ state: 'posted', date: taken, lines: [...lines, ...own, ...back.lines] },
      ...{ facts: JSON.stringify([taken, facts]), dating, share: back.share, received, name: null },
      remarks: paid.isNegative() && source.refunds === null ? ['negative_without_original'] : [],
    });
  }

  /**
   * R5: the VAT that a use or refund of a prepayment returns. Empty if the installation has not read the prepayment.
   */
  #givenBack(
    document: string,
    prepayment: number | null,
    amount: D,
    common: Pick<ExpectedLine, 'party' | 'department'>,
    { received }: RuleConditions,
  ): { lines: ExpectedLine[]; facts: unknown[]; share: Share | null } {
    const isKnown = document.startsWith('prepayment/') || this.#mirror.prepayments.has(prepayment ?? 0);
    if (prepayment === null || !received || !isKnown) return { lines: [], facts: [], share: null };
    const takenBy = (other: string) => this.#takenBy(other);
    const { share, vat: back, of } = shareOf(document, prepayment, amount, this.#decimals, received, takenBy);
    if (of === null) return { lines: [], facts: [], share };
    const lines = vatLines(back.negated(), amount.negated(), of, common);
    const facts = lines.map(({ role, account, amount: vat, vat: group }) => [role, account, vat.toFixed(), group]);
    return { lines, facts, share };
  }

  /**
   * The prepayment that a payment or refund uses, and the used amount. Null if the installation has not read the
   * prepayment.
   */
  #takenBy(document: string): { prepayment: number; amount: D } | null {
    const [kind, id] = document.split('/');
    if (kind === 'payment') {
      const { prepayment, paid } = this.#mirror.payments.get(Number(id))!.source;
      if (prepayment === null || !this.#mirror.prepayments.has(prepayment)) return null;
      return { prepayment, amount: new D(paid) };
    }
    const source = kind === 'prepayment' ? this.#mirror.prepayments.get(Number(id))!.source : null;
    if (source === null || source.refunds === null || !new D(source.paid).isNegative()) return null;
    return { prepayment: source.refunds, amount: new D(source.paid).negated() };
  }

  #moneyLine(
    department: number,
    target: { role: string; account: string },
    own: string,
    snapshot: (string | null)[],
    paid: D,
    now: RuleConditions,
  ): ExpectedLine {
    const { role } = target;
    const third =
      role === 'insurance_receivable' || role === 'financing_receivable' ? now.mapping.counterparties[role] : undefined;
    const who = third ? { party: third, snapshot: [null, null] } : { party: own, snapshot };
    return {
      ...target,
      ...who,
      amount: paid,
      department,
      tags: noTags,
      vat: null,
      paymentType: null,
      receivable: null,
    };
  }

  #line(
    invoice: Invoice,
    party: string,
    line: Pick<ExpectedLine, 'role' | 'account' | 'amount'> & Partial<ExpectedLine>,
  ): ExpectedLine {
    const { department } = invoice;
    return {
      party,
      snapshot: snapshotOf(invoice),
      department,
      tags: noTags,
      vat: null,
      paymentType: null,
      receivable: null,
      ...line,
    };
  }

  #posted(invoice: Invoice, lines: ExpectedLine[], facts: unknown[], remarks: string[]): Verdict {
    const { id, invoice_date: date } = invoice;
    const common = lines.map((line) => [
      line.party,
      keysOf(invoice),
      line.department,
      line.receivable,
      line.role === 'receivable' ? line.amount.toFixed() : '',
    ]);
    return {
      state: 'posted',
      date,
      lines,
      facts: JSON.stringify([date, facts.map((fact) => JSON.stringify(fact)).sort(), common[0]]),
      dating: this.#datingOf(id),
      remarks: [...remarks, ...invoiceRemarks(this.#mirror.invoices.get(id)!, this.#mirror)],
      name: payerName(invoice),
    };
  }

  #partyOf(invoice: Invoice, now: RuleConditions): string | null {
    return invoice.client === null ? now.mapping.cash_customer || null : `client:${invoice.client}`;
  }
}

interface Law {
  total: D;
  tax: D;
  unit: D;
}
