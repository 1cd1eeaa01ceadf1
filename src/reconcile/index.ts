import { type Db, query } from '../db/pool.ts';
import { type Money, zero } from '../domain/money.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { waitingHint } from './books.ts';
import { ClearingFigures } from './clearing.ts';
import { checkCompleteness, countStates } from './completeness.ts';
import { invoiceBooks, orphanPaymentBooks, prepaymentBooks } from './load.ts';
import { checkPayment, checkPrepayment } from './payments.ts';
import { PrepaymentFigures, prepaymentUse } from './prepayment.ts';
import { checkReceivable } from './receivable.ts';
import {
  BoundedList,
  type EquationName,
  figure,
  type InstallationReport,
  type Listed,
  type Note,
  type ReconcileInput,
  type ReconcileReport,
  Tally,
} from './report.ts';
import { checkRevenue } from './revenue.ts';
import { checkSummaries, unsummarised } from './summaries.ts';
import { checkTrialBalance, trialBalance, unusedPrepayments } from './trial-balance.ts';

export type { InstallationReport, ReconcileInput, ReconcileReport } from './report.ts';

/**
 * The equations E1-E6 over the whole books (ACCOUNTING "Equations"), from one snapshot of the database. The ledger is summed
 * in SQL, the mirror is streamed; in memory are one batch of invoices and one figure per client, account and day.
 */
export async function reconcile(db: Db, installations: ReconcileInput[]): Promise<ReconcileReport> {
  return (await reconcileBooks(db, installations)).report;
}

/** A report, and by installation the invoices and prepayments that E2 and E3 find a difference in, so that they can be fetched again. */
export interface Reconciliation {
  report: ReconcileReport;
  disputed: Map<InstallationId, DocumentRef[]>;
}

/** As `reconcile`, with the documents in dispute. */
export async function reconcileBooks(db: Db, installations: ReconcileInput[]): Promise<Reconciliation> {
  const reports: InstallationReport[] = [];
  const disputed: Reconciliation['disputed'] = new Map();
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  try {
    for (const input of installations) {
      const found = await reconcileInstallation(trx, input);
      reports.push(found.report);
      disputed.set(input.id, found.disputed);
    }
  } finally {
    await trx.rollback();
  }
  return { report: { ok: reports.every(({ ok }) => ok), installations: reports }, disputed };
}

async function reconcileInstallation(
  db: Db,
  input: ReconcileInput,
): Promise<{ report: InstallationReport; disputed: DocumentRef[] }> {
  const run = new Run(input);
  run.tally.E1.add(...(await checkTrialBalance(db, input)));
  run.tally.E1.add(...(await checkSummaries(db, input)));
  await run.overInvoices(db);
  await run.overPrepayments(db);
  run.tally.E6.add(...(await checkCompleteness(db, input)));
  const reports = new BoundedList<Listed['reports'][number]>();
  reports.add(...(await documentReports(db, input)));

  const { decimals } = input;
  const equations = {
    E1: run.tally.E1.equation(decimals),
    E2: run.tally.E2.equation(decimals),
    E3: run.tally.E3.equation(decimals),
    E4: run.tally.E4.equation(decimals),
    E5: run.tally.E5.equation(decimals),
    E6: run.tally.E6.equation(null),
  };
  const bounded = {
    payments_without_invoice: run.withoutInvoice,
    held_changes: run.heldChanges,
    reports,
  };
  const omitted = Object.entries(bounded).flatMap(([name, list]) => (list.omitted > 0 ? [[name, list.omitted]] : []));
  const report: InstallationReport = {
    installation: input.id,
    ok: Object.values(equations).every(({ ok }) => ok),
    currency: input.currency,
    equations,
    states: await countStates(db, input),
    trial_balance: await trialBalance(db, input),
    listed: {
      payments_without_invoice: run.withoutInvoice.items,
      held_changes: run.heldChanges.items,
      consolidation_clearing: run.clearing.consolidation(decimals),
      credit_settlement: run.clearing.settlement(decimals),
      prepayment_clients: run.prepaymentClients,
      unused_prepayments: await unusedPrepayments(db, input),
      residues: run.residues(),
      unsummarised: await unsummarised(db, input),
      reports: reports.items,
    },
    omitted: Object.fromEntries(omitted),
  };
  return { report, disputed: run.disputed.items };
}

/** One installation's walk over the mirror, and what it gathers. */
class Run {
  readonly input: ReconcileInput;
  readonly tally: Record<EquationName, Tally> = {
    E1: new Tally(),
    E2: new Tally(),
    E3: new Tally(),
    E4: new Tally(),
    E5: new Tally(),
    E6: new Tally(),
  };
  readonly withoutInvoice = new BoundedList<Note>();
  readonly heldChanges = new BoundedList<Note>();
  /** Invoices (E2) and prepayments (E3) with a difference. */
  readonly disputed = new BoundedList<DocumentRef>();
  readonly clearing = new ClearingFigures();
  prepaymentClients: Listed['prepayment_clients'] = [];
  readonly #prepayments = new PrepaymentFigures();
  readonly #residues = new Map<string, Listed['residues'][number] & { amount: Money }>();

  constructor(input: ReconcileInput) {
    this.input = input;
  }

  async overInvoices(db: Db): Promise<void> {
    for await (const book of invoiceBooks(db, this.input)) {
      const receivable = checkReceivable(book, this.input);
      this.tally.E2.add(...receivable.differences);
      if (receivable.differences.length > 0) this.disputed.add({ kind: 'invoice', id: book.record.id });
      this.withoutInvoice.add(...receivable.withoutInvoice);
      this.heldChanges.add(...receivable.heldChanges);
      const revenue = checkRevenue(book, this.input.decimals);
      this.tally.E5.add(...revenue.differences);
      for (const residue of revenue.residues) this.#addResidue(residue);
      this.clearing.add(book);
      for (const payment of book.payments) {
        const found = checkPayment(payment, book.record, this.input);
        this.tally.E4.add(...found.differences);
        this.heldChanges.add(...found.heldChanges);
        if (payment.record.paymentType === prepaymentUse) this.#prepayments.addUse(payment, book.record.clientId);
      }
    }
    for await (const payment of orphanPaymentBooks(db, this.input)) {
      this.tally.E4.add(...checkPayment(payment, null, this.input).differences);
      if (payment.record.paymentType === prepaymentUse) this.#prepayments.addUse(payment, null);
      for (const each of payment.figures) {
        if (each.role !== 'receivable' && each.role !== 'opening_receivable') continue;
        this.tally.E2.add({
          document: `payment ${payment.record.id}`,
          amount: each.amount,
          message: `${figure(each.amount, this.input.decimals)} of ${each.role} is posted, but its invoice is not in the mirror${waitingHint(payment)}`,
        });
      }
    }
  }

  /** After the invoices: whether refunds lower the unused amount shows best where a client used nothing. */
  async overPrepayments(db: Db): Promise<void> {
    for await (const book of prepaymentBooks(db, this.input)) {
      const found = checkPrepayment(book, this.input);
      this.tally.E4.add(...found.differences);
      this.heldChanges.add(...found.heldChanges);
      this.#prepayments.addPrepayment(book);
    }
    const { refundLowersUnused, decimals } = this.input;
    const lowers = refundLowersUnused === 'auto' ? this.#prepayments.refundsLowerUnused() : refundLowersUnused;
    const found = this.#prepayments.check(lowers, decimals);
    this.tally.E3.add(...found.differences);
    this.disputed.add(...found.disputed);
    this.prepaymentClients = found.clients;
  }

  residues(): Listed['residues'] {
    return [...this.#residues.values()]
      .filter(({ amount }) => !amount.isZero())
      .map(({ account, date, amount }) => ({ account, date, residue: figure(amount, this.input.decimals) }))
      .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.account < b.account ? -1 : 1));
  }

  #addResidue({ account, date, residue }: { account: string; date: string; residue: Money }): void {
    const key = `${date} ${account}`;
    const amount = (this.#residues.get(key)?.amount ?? zero).plus(residue);
    this.#residues.set(key, { account, date, residue: '', amount });
  }
}

async function documentReports(db: Db, input: ReconcileInput): Promise<Listed['reports']> {
  const rows = await query<{ document: string; code: string; message: string }>(
    db,
    `select kind || ' ' || id as document, code, message from document_report where installation = ?
     order by code, kind, id`,
    [input.id],
  );
  return rows;
}
