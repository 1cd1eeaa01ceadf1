import { numeric, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { sharesInForce } from '../ledger/journal/shares.ts';
import { takenByUses } from '../prepayments/taken.ts';
import { e8Texts } from '../texts/findings/reconcile.ts';
import { PrepaymentEquation, useOf } from './e3-prepayment.ts';
import { type OriginalsFinding, OriginalsVat } from './e8-originals.ts';
import { type LoadedBooks, loadPrepayments, loadUses } from './loaded-books.ts';
import { type Difference, formatAmount, type ReconcileInput } from './reconcile-report.ts';
import {
  balance,
  isHeldChange,
  type ReconciledInvoice,
  type ReconciledPayment,
  type ReconciledPrepayment,
} from './reconciled-documents.ts';

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
    if (invoice.inForce === null || invoice.record.consolidatedInvoiceIds.length > 0) return;
    const posted = balance(invoice.inForce, ({ role }) => role === 'vat').negated();
    const owed = isHeldChange(invoice) ? posted : (invoice.record.totalVat ?? posted);
    this.#ofInvoices = this.#ofInvoices.plus(owed);
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
    const found = await rows(
      db,
      { role: oneOf(['vat', 'prepayment_vat']), balance: numeric },
      `select l.role, sum(case l.side when 'credit' then l.amount else -l.amount end) as balance
       from entry e join entry_line l on l.entry_id = e.id
       where e.installation = ? and l.role in ('vat', 'prepayment_vat') group by l.role`,
      [id],
    );
    const of = (role: 'vat' | 'prepayment_vat') => new Money(found.find((each) => each.role === role)?.balance ?? 0);
    const expected = this.#ofInvoices.minus(of('prepayment_vat'));
    const ledger = of('vat');
    if (ledger.equals(expected)) return [];
    return [
      {
        document: 'vat',
        amount: ledger.minus(expected),
        message: e8Texts.total({
          ...{ ledger: formatAmount(ledger, decimals), expected: formatAmount(expected, decimals) },
          invoices: formatAmount(this.#ofInvoices, decimals),
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
