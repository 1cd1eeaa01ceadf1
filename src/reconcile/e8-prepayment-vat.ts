import type { Connection } from '../db/rows.ts';
import { formatExact, type Money, zero } from '../domain/money.ts';
import { sharesInForce } from '../ledger/journal/shares.ts';
import { takenByUses } from '../prepayments/taken.ts';
import { e8Texts } from '../texts/findings/reconcile.ts';
import { PrepaymentEquation, useOf } from './e3-prepayment.ts';
import { type OriginalsFinding, OriginalsVat } from './e8-originals.ts';
import { type LoadedBooks, loadPrepayments, loadUses } from './loaded-books.ts';
import type { Difference, ReconcileInput } from './reconcile-report.ts';
import {
  type ReconciledInvoice,
  type ReconciledPayment,
  type ReconciledPrepayment,
  vatOwed,
} from './reconciled-documents.ts';
import { balancesOfRoles } from './role-balances.ts';

/**
 * Equation E8, for installations that post VAT on prepayments at receipt. For each original, `prepayment_vat` holds the
 * VAT of the amount that is unused in the source. Over the whole books, `vat` is the VAT of invoices less
 * `prepayment_vat`. Listed besides: originals received without VAT that were used, and unmatched uses of clients whose
 * originals all agree.
 */
export class PrepaymentVatEquation {
  readonly #input: Pick<ReconcileInput, 'id' | 'decimals' | 'mapping'>;
  readonly #originals = new OriginalsVat();
  #ofInvoices: Money = zero;

  constructor(input: Pick<ReconcileInput, 'id' | 'decimals' | 'mapping'>) {
    this.#input = input;
  }

  /** Whether the installation's mapping posts VAT at receipt. */
  get isPosted(): boolean {
    const { mapping } = this.#input;
    return mapping !== undefined && mapping.policies.prepayment_vat !== 'listed';
  }

  addInvoice(invoice: ReconciledInvoice): void {
    this.#ofInvoices = this.#ofInvoices.plus(vatOwed(invoice, ['vat']));
  }

  addUse(payment: ReconciledPayment, clientOfInvoice: number | null): void {
    if (this.isPosted) this.#originals.addUse(payment, clientOfInvoice);
  }

  addPrepayment(prepayment: ReconciledPrepayment): void {
    if (this.isPosted) this.#originals.addPrepayment(prepayment);
  }

  /** The differences of original prepayments. Must be called after all documents were added. */
  async checkOriginals(db: Connection, refundsLowerUnused: boolean): Promise<OriginalsFinding> {
    const { id, decimals } = this.#input;
    const { matchesOf, sharesOf } = this.#originals.asked;
    const shares = await sharesInForce(db, id, sharesOf);
    const matches = await takenByUses(db, id, matchesOf);
    return this.#originals.check(shares, matches, refundsLowerUnused, decimals);
  }

  /**
   * Checks that `vat` is the VAT of invoices less `prepayment_vat`. Must be called after all documents, including
   * invoices, were added.
   */
  async checkTotal(db: Connection): Promise<Difference[]> {
    const { decimals, id } = this.#input;
    const { vat: ledger, prepayment_vat: ofPrepayments } = await balancesOfRoles(db, id, ['vat', 'prepayment_vat']);
    const expected = this.#ofInvoices.minus(ofPrepayments);
    if (ledger.equals(expected)) return [];
    return [
      {
        document: 'vat',
        amount: ledger.minus(expected),
        message: e8Texts.total({
          ...{ ledger: formatExact(ledger, decimals), expected: formatExact(expected, decimals) },
          invoices: formatExact(this.#ofInvoices, decimals),
        }),
      },
    ];
  }
}

/**
 * E8's differences of an installation's originals, without the other equations; null if no VAT is posted on
 * prepayments. `db` must be one snapshot.
 */
export async function differencesOfOriginals(
  db: Connection,
  input: LoadedBooks & Pick<ReconcileInput, 'decimals' | 'mapping' | 'timezone' | 'refundLowersUnused'>,
): Promise<Difference[] | null> {
  const equation = new PrepaymentVatEquation(input);
  if (!equation.isPosted) return null;
  const prepayments = new PrepaymentEquation();
  for await (const use of loadUses(db, input)) {
    equation.addUse(use, null);
    prepayments.addUse(use, useOf(use, null));
  }
  for await (const prepayment of loadPrepayments(db, input)) {
    equation.addPrepayment(prepayment);
    prepayments.addPrepayment(prepayment);
  }
  const { differences } = await equation.checkOriginals(db, prepayments.refundsLowerUnused(input.refundLowersUnused));
  return differences;
}
