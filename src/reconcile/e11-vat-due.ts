import { VatDueBatch } from '../bookkeeping/vat-due-batch.ts';
import { dueInForce } from '../bookkeeping/vat-due-read.ts';
import { integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatExact, type Money, zero } from '../domain/money.ts';
import { dueSteps, keyOfGroup, movesOf } from '../posting/vat-due.ts';
import type { DocumentRef } from '../terms.ts';
import { e11Texts } from '../texts/findings/reconcile.ts';
import type { Difference, Note, ReconcileInput } from './reconcile-report.ts';
import { type ReconciledInvoice, vatOwed } from './reconciled-documents.ts';
import { balancesOfRoles } from './role-balances.ts';

const pageSize = 300;

/**
 * Equation E11, for installations that post VAT on payment. For each invoice and VAT group, `vat_not_due` is the VAT
 * that is not due yet. Over the whole books, `vat`, `vat_not_due` and `opening_vat_not_due` are the VAT of the posted
 * invoices, less `prepayment_vat`. Listed besides: moves that a closed period or another problem keeps out of the books.
 */
export class VatDueEquation {
  readonly #input: ReconcileInput;
  #ofInvoices: Money = zero;

  constructor(input: ReconcileInput) {
    this.#input = input;
  }

  get isPosted(): boolean {
    return (this.#input.mapping?.policies.vat_due ?? null) !== null;
  }

  addInvoice(invoice: ReconciledInvoice): void {
    this.#ofInvoices = this.#ofInvoices.plus(vatOwed(invoice, ['vat', 'vat_not_due']));
  }

  /** Checks the totals. The caller has added all invoices before. */
  async check(db: Connection): Promise<{ differences: Difference[]; listed: Note[] }> {
    const differences = await this.#total(db);
    const listed: Note[] = [];
    for (let after = 0; ; ) {
      const ids = await this.#nextInvoices(db, after);
      const last = ids.at(-1);
      if (last === undefined) return { differences, listed };
      for (const { invoice, difference, by } of await this.#ofPage(db, ids)) {
        const text = formatExact(difference.abs(), this.#input.decimals);
        const documents = by.map(({ kind, id }) => `${kind} ${id}`).join(', ');
        const message = e11Texts.invoice({ amount: text, documents });
        if (await this.#areWaiting(db, by)) listed.push({ document: `invoice ${invoice}`, message });
        else differences.push({ document: `invoice ${invoice}`, amount: difference, message });
      }
      after = last;
    }
  }

  /** The invoices of a page with documents that do not move what they must. */
  async #ofPage(db: Connection, ids: readonly number[]) {
    const { id, dialect, mapping, timezone, currency, decimals, startDate, today } = this.#input;
    if (mapping === undefined) return [];
    const context = {
      ...{ installation: id, timezone, currency, decimals, startDate, mapping },
      ...{ closedThrough: null, sourceLockDates: new Map() },
    };
    const { books } = await VatDueBatch.ofInvoices(db, { id, dialect }, ids, context);
    const own = new Set(ids);
    const moved = new Map<string, { invoice: number; by: DocumentRef; vat: Money }>();
    const add = (invoice: number, { kind, id: byId }: DocumentRef, group: string, vat: Money) => {
      const key = `${invoice} ${kind} ${byId} ${group}`;
      const known = moved.get(key) ?? { invoice, by: { kind, id: byId }, vat: zero };
      moved.set(key, { ...known, vat: known.vat.plus(vat) });
    };
    for (const invoice of ids) {
      for (const step of dueSteps(books, invoice, decimals)) {
        const isFuture = step.by.kind === 'vat_due' && (step.invoice.latest ?? '') >= today;
        if (isFuture || step.isOpening) continue;
        for (const move of movesOf(step, decimals)) add(invoice, step.by, keyOfGroup(move), move.vat);
      }
    }
    const payments = [...books.payments.values()].flatMap((its) => its.map((payment) => payment.id));
    for (const line of await dueInForce(db, id, { payments, latest: ids })) {
      if (own.has(line.invoiceId)) add(line.invoiceId, line, keyOfGroup(line), line.vat.negated());
    }
    const wrong = [...moved.values()].filter(({ vat }) => !vat.isZero());
    return [...Map.groupBy(wrong, ({ invoice }) => invoice)].map(([invoice, its]) => ({
      invoice,
      difference: its.reduce((total, { vat }) => total.plus(vat.abs()), zero),
      by: its.map(({ by }) => by),
    }));
  }

  async #nextInvoices(db: Connection, after: number): Promise<number[]> {
    const found = await rows(
      db,
      { id: integer },
      `select id from document where installation = ? and kind = 'invoice' and id > ?
         and document_date >= ?::date and (entry_id is not null or state = 'before_start') order by id limit ?`,
      [this.#input.id, after, this.#input.mapping?.policies.vat_due?.from ?? null, pageSize],
    );
    return found.map(({ id }) => id);
  }

  /** Whether a problem keeps the moves of these documents out of the books, or the next window posts them. */
  async #areWaiting(db: Connection, documents: readonly DocumentRef[]): Promise<boolean> {
    const found = await rows(
      db,
      { id: integer },
      `select d.id from unnest(?::text[], ?::bigint[]) as t(kind, id)
       left join document d on d.installation = ? and d.kind = t.kind and d.id = t.id
       where d.id is not null and d.problem_code is null and not d.dirty`,
      [documents.map(({ kind }) => kind), documents.map(({ id }) => id), this.#input.id],
    );
    return found.length === 0;
  }

  async #total(db: Connection): Promise<Difference[]> {
    const { id, decimals } = this.#input;
    const of = await balancesOfRoles(db, id, ['vat', 'vat_not_due', 'opening_vat_not_due', 'prepayment_vat']);
    const ledger = of.vat.plus(of.vat_not_due).plus(of.opening_vat_not_due);
    const expected = this.#ofInvoices.minus(of.prepayment_vat);
    if (ledger.equals(expected)) return [];
    const text = (amount: Money) => formatExact(amount, decimals);
    const message = e11Texts.total({
      ledger: text(ledger),
      expected: text(expected),
      invoices: text(this.#ofInvoices),
    });
    return [{ document: 'vat', amount: ledger.minus(expected), message }];
  }
}
