import type { Connection } from '../db/rows.ts';
import { leftAsPosted, outsideBooks, outsideByKind } from '../documents/outside-books.ts';
import { formatExact } from '../domain/money.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import { type DocumentRef, soldRoles } from '../terms.ts';
import { e2Texts, reconcileParts } from '../texts/findings/reconcile.ts';
import { ClearingBalances } from './clearing-balances.ts';
import { checkSummaries } from './e1-summaries.ts';
import { checkTrialBalance } from './e1-trial-balance.ts';
import { checkReceivable } from './e2-receivable.ts';
import { PrepaymentEquation, useOf } from './e3-prepayment.ts';
import { checkPayment, checkPrepayment } from './e4-payments.ts';
import { checkRevenue, Residues } from './e5-revenue.ts';
import { checkCompleteness, listsNotCounted } from './e6-completeness.ts';
import { PrepaymentVatEquation } from './e8-prepayment-vat.ts';
import { VoucherEquation } from './e9-vouchers.ts';
import { checkWriteBacks } from './e10-write-backs.ts';
import { VatDueEquation } from './e11-vat-due.ts';
import { liabilitiesInDebit } from './liabilities.ts';
import { namingTimeouts } from './limited.ts';
import { countStates, documentReports, trialBalance, unsummarisedByDay } from './listed.ts';
import { loadInvoices, loadPaymentsWithoutInvoice, loadPrepayments } from './loaded-books.ts';
import {
  BoundedList,
  type Equation,
  type EquationName,
  type InstallationReport,
  type Listed,
  type Note,
  type ReconcileInput,
  Tally,
} from './reconcile-report.ts';
import { type ReconciledPayment, waitingHint } from './reconciled-documents.ts';
import { balancesOfRoles } from './role-balances.ts';
import { UnusedPrepayments } from './unused-prepayments.ts';

/** One installation's report, and its disputed documents (E2, E3). `db` must be one snapshot. */
export async function reconcileInstallation(
  db: Connection,
  input: ReconcileInput,
): Promise<{ report: InstallationReport; disputed: DocumentRef[] }> {
  const checks = new DocumentChecks(input);
  const { tallies } = checks;
  const named = <T>(report: string, work: () => Promise<T>) => namingTimeouts(input.id, report, work);
  tallies.E1.addFound(await named(reconcileParts.trialBalance, () => checkTrialBalance(db, input)));
  for (const found of await named(reconcileParts.summaries, () => checkSummaries(db, input)))
    tallies.E1.addFound(found);
  await named(reconcileParts.invoices, () => checks.invoices(db));
  await named(reconcileParts.payments, () => checks.paymentsWithoutInvoice(db));
  await named(reconcileParts.prepayments, () => checks.prepayments(db));
  for (const found of await named(reconcileParts.completeness, () => checkCompleteness(db, input)))
    tallies.E6.addFound(found);
  const prepaymentVat = await named(reconcileParts.prepaymentVat, () => checks.prepaymentVat(db));
  const vatDue = await named(reconcileParts.vatDue, () => checks.vatDue(db));
  const vouchers = await named(reconcileParts.vouchers, () => checks.vouchers(db));
  const writeBacks = await named(reconcileParts.writeBacks, () => checkWriteBacks(db, input));
  const reports = new BoundedList<Listed['reports'][number]>();
  const reported = await named(reconcileParts.reports, () => documentReports(db, input));
  reports.addAll(reported.listed);
  reports.omit(reported.omitted);

  const { decimals } = input;
  const notCounted = listsNotCounted(input);
  const equations = {
    E1: tallies.E1.equation(decimals),
    E2: tallies.E2.equation(decimals),
    E3: tallies.E3.equation(decimals),
    E4: tallies.E4.equation(decimals),
    E5: tallies.E5.equation(decimals),
    E6: { ...tallies.E6.equation(null), ...(notCounted.length > 0 ? { not_counted: notCounted } : {}) },
    ...(prepaymentVat ? { E8: prepaymentVat } : {}),
    E9: tallies.E9.equation(decimals),
    E10: writeBacks.equation,
    ...(vatDue ? { E11: vatDue } : {}),
  };
  const bounded = {
    payments_without_invoice: checks.withoutInvoice,
    held_changes: checks.heldChanges,
    prepayment_vat: checks.prepaymentVatNotes,
    vat_due: checks.vatDueNotes,
    reports,
    write_backs_foreign: writeBacks.foreign,
    write_backs_unproven: writeBacks.unproven,
  };
  const omitted = Object.entries(bounded).flatMap(([name, list]) => (list.omitted > 0 ? [[name, list.omitted]] : []));
  const balances = await named(reconcileParts.balances, () => trialBalance(db, input));
  const groups = await named(reconcileParts.outside, () => outsideBooks(db, [input.id]));
  const outside = outsideByKind(groups, decimals);
  const report: InstallationReport = {
    installation: input.id,
    ok: Object.values(equations).every(({ ok }) => ok),
    complete: Object.keys(outside).length === 0,
    empty: balances.length === 0,
    outside,
    left_as_posted: leftAsPosted(groups, decimals),
    currency: input.currency,
    equations,
    states: await named(reconcileParts.states, () => countStates(db, input)),
    trial_balance: balances,
    listed: {
      payments_without_invoice: checks.withoutInvoice.items,
      held_changes: checks.heldChanges.items,
      consolidation_clearing: checks.clearing.consolidation(decimals),
      credit_settlement: checks.clearing.settlement(decimals),
      prepayment_clients: checks.prepaymentClients,
      unused_prepayments: checks.unusedPrepayments.listed(input.today, decimals),
      ...(prepaymentVat ? { prepayment_vat: checks.prepaymentVatNotes.items } : {}),
      ...(vatDue ? { vat_due: checks.vatDueNotes.items } : {}),
      vouchers,
      write_backs: { foreign: writeBacks.foreign.items, unproven: writeBacks.unproven.items },
      liabilities_in_debit: await named(reconcileParts.liabilities, () => liabilitiesInDebit(db, input)),
      residues: checks.residues.listed(decimals),
      unsummarised: await unsummarisedByDay(db, input),
      reports: reports.items,
    },
    omitted: Object.fromEntries(omitted),
  };
  return { report, disputed: checks.disputed.items };
}

/** The equations that are checked document by document (E2-E5), and the lists that are collected with them. */
class DocumentChecks {
  readonly tallies: Record<EquationName, Tally> = {
    E1: new Tally(),
    E2: new Tally(),
    E3: new Tally(),
    E4: new Tally(),
    E5: new Tally(),
    E6: new Tally(),
    E9: new Tally(),
  };
  readonly withoutInvoice = new BoundedList<Note>();
  readonly heldChanges = new BoundedList<Note>();
  readonly prepaymentVatNotes = new BoundedList<Note>();
  readonly vatDueNotes = new BoundedList<Note>();
  /** Invoices (E2) and prepayments (E3, E8) with a difference. */
  readonly disputed = new BoundedList<DocumentRef>();
  readonly clearing = new ClearingBalances();
  readonly residues = new Residues();
  readonly unusedPrepayments: UnusedPrepayments;
  prepaymentClients: Listed['prepayment_clients'] = [];
  readonly #input: ReconcileInput;
  readonly #prepayments = new PrepaymentEquation();
  readonly #vouchers: VoucherEquation;
  readonly #prepaymentVat: PrepaymentVatEquation;
  readonly #vatDue: VatDueEquation;
  /** The result is known only after all uses and prepayments are read. */
  #refundsLower = true;

  constructor(input: ReconcileInput) {
    this.#input = input;
    this.unusedPrepayments = new UnusedPrepayments(input);
    this.#prepaymentVat = new PrepaymentVatEquation(input);
    this.#vatDue = new VatDueEquation(input);
    this.#vouchers = new VoucherEquation(input, (difference) => this.tallies.E9.add(difference));
  }

  async invoices(db: Connection): Promise<void> {
    for await (const invoice of loadInvoices(db, this.#input)) {
      const receivable = checkReceivable(invoice, this.#input);
      this.tallies.E2.addAll(receivable.differences);
      if (receivable.differences.length > 0) this.disputed.add({ kind: 'invoice', id: invoice.record.id });
      this.withoutInvoice.addAll(receivable.withoutInvoice);
      this.heldChanges.addAll(receivable.heldChanges);
      const revenue = checkRevenue(invoice, this.#input.decimals);
      this.tallies.E5.addAll(revenue.differences);
      for (const residue of revenue.residues) this.residues.add(residue);
      this.clearing.add(invoice);
      this.#vouchers.addInvoice(invoice);
      this.#prepaymentVat.addInvoice(invoice);
      this.#vatDue.addInvoice(invoice);
      for (const payment of invoice.payments) {
        const found = checkPayment(payment, invoice.record, this.#input);
        this.tallies.E4.addAll(found.differences);
        this.heldChanges.addAll(found.heldChanges);
        this.#vouchers.addMoney('payment', payment);
        this.#addUse(payment, invoice.record.clientId);
      }
    }
  }

  async paymentsWithoutInvoice(db: Connection): Promise<void> {
    const { decimals } = this.#input;
    for await (const payment of loadPaymentsWithoutInvoice(db, this.#input)) {
      this.tallies.E4.addAll(checkPayment(payment, null, this.#input).differences);
      this.#vouchers.addMoney('payment', payment);
      this.#addUse(payment, null);
      for (const { role, amount } of payment.sums) {
        if (role !== 'receivable' && role !== 'opening_receivable') continue;
        this.tallies.E2.add({
          document: `payment ${payment.record.id}`,
          amount,
          message: e2Texts.invoiceNotMirrored({ amount: formatExact(amount, decimals), role }) + waitingHint(payment),
        });
      }
    }
  }

  /**
   * Must run after the payments: the best evidence of whether refunds reduce the unused amount is an original whose
   * client used nothing.
   */
  async prepayments(db: Connection): Promise<void> {
    for await (const prepayment of loadPrepayments(db, this.#input)) {
      const found = checkPrepayment(prepayment, this.#input);
      this.tallies.E4.addAll(found.differences);
      this.heldChanges.addAll(found.heldChanges);
      this.#prepayments.addPrepayment(prepayment);
      this.#vouchers.addMoney('prepayment', prepayment);
      this.#prepaymentVat.addPrepayment(prepayment);
      this.unusedPrepayments.addPrepayment(prepayment);
    }
    const { refundLowersUnused, decimals } = this.#input;
    this.#refundsLower = this.#prepayments.refundsLowerUnused(refundLowersUnused);
    const found = this.#prepayments.check(this.#refundsLower, decimals);
    this.tallies.E3.addAll(found.differences);
    this.disputed.addAll(found.disputed);
    this.prepaymentClients = found.clients;
  }

  /** Equation E8. Must run after the prepayments. Null if no VAT is posted on prepayments. */
  async prepaymentVat(db: Connection): Promise<Equation | null> {
    if (!this.#prepaymentVat.isPosted) return null;
    const found = await this.#prepaymentVat.checkOriginals(db, this.#refundsLower);
    const tally = new Tally();
    tally.addAll(found.differences);
    // With VAT on payment, E11 has the total.
    if (!this.#vatDue.isPosted) tally.addAll(await this.#prepaymentVat.checkTotal(db));
    this.disputed.addAll(found.disputed);
    this.prepaymentVatNotes.addAll(found.listed);
    return tally.equation(this.#input.decimals);
  }

  /** Equation E11. Must run after the invoices. Null if no VAT is posted on payment. */
  async vatDue(db: Connection): Promise<Equation | null> {
    if (!this.#vatDue.isPosted) return null;
    const { differences, listed } = await this.#vatDue.check(db);
    const tally = new Tally();
    tally.addAll(differences);
    this.vatDueNotes.addAll(listed);
    return tally.equation(this.#input.decimals);
  }

  /** Equation E9. Must run after all documents. */
  async vouchers(db: Connection): Promise<Listed['vouchers']> {
    return this.#vouchers.check(await balancesOfRoles(db, this.#input.id, soldRoles));
  }

  #addUse(payment: ReconciledPayment, clientId: number | null): void {
    this.unusedPrepayments.addPayment(payment);
    if (payment.record.paymentType !== prepaymentUse) return;
    this.#prepaymentVat.addUse(payment, clientId);
    this.#prepayments.addUse(payment, useOf(payment, clientId));
  }
}
