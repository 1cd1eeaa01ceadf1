import { bool, integer, numeric, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, minorUnit, zero } from '../domain/money.ts';
import { balance, isHeldChange, type ReconciledInvoice, type ReconciledPrepayment, waitingHint } from './documents.ts';
import { type Difference, formatAmount, type Note, type ReconcileInput } from './report.ts';

interface Original {
  prepayment: ReconciledPrepayment;
  /** Of its entry in force: its VAT, and the amount received. */
  vat: Money;
  paid: Money;
}

/** What was taken from a prepayment by entries in force, and the VAT given back for it. */
interface Taken {
  amount: Money;
  vat: Money;
  withoutVat: Money;
}

export interface PrepaymentVatFinding {
  differences: Difference[];
  listed: Note[];
}

/**
 * Equation E8, for installations that post VAT on prepayments at receipt: of each original, `prepayment_vat` holds its VAT × unused /
 * paid; and `vat` over the whole books is what invoices owe, less `prepayment_vat`. An original whose use is not all posted or matched is
 * listed, as is one that was received without VAT and gives nothing back.
 */
export class PrepaymentVatEquation {
  readonly #input: ReconcileInput;
  readonly #originals = new Map<number, Original>();
  #ofInvoices: Money = zero;

  constructor(input: ReconcileInput) {
    this.#input = input;
  }

  /** Whether the installation's mapping asks for VAT at receipt. */
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

  addPrepayment(prepayment: ReconciledPrepayment): void {
    const vat = balance(prepayment.sums, ({ role }) => role === 'prepayment_vat');
    const paid = balance(prepayment.sums, ({ role }) => role === 'prepayment_liability').negated();
    // A refund's lines stand on the other side.
    if (vat.isZero() || paid.lessThanOrEqualTo(0)) return;
    this.#originals.set(prepayment.record.id, { prepayment, vat, paid });
  }

  /** After all documents. */
  async check(db: Connection, refundsLowerUnused: boolean): Promise<PrepaymentVatFinding> {
    const finding: PrepaymentVatFinding = { differences: [], listed: [] };
    const taken = await takenByPrepayment(db, this.#input);
    for (const [id, original] of this.#originals) {
      this.#checkOriginal(id, original, taken.get(id) ?? nothing, refundsLowerUnused, finding);
    }
    const { decimals } = this.#input;
    for (const [id, { withoutVat }] of taken) {
      if (withoutVat.isZero() || this.#originals.has(id)) continue;
      const message = `${formatAmount(withoutVat, decimals)} of it was used or paid back; it was received without VAT and gives none back`;
      finding.listed.push({ document: `prepayment ${id}`, message });
    }
    await this.#checkTotal(db, finding);
    return finding;
  }

  #checkOriginal(
    id: number,
    { prepayment, vat, paid }: Original,
    taken: Taken,
    refundsLowerUnused: boolean,
    finding: PrepaymentVatFinding,
  ): void {
    const { decimals } = this.#input;
    const document = `prepayment ${id}`;
    const left = vat.minus(taken.vat);
    const unused = paid.minus(taken.amount);
    const exact = vat.times(unused).dividedBy(paid);
    if (left.minus(exact).abs().greaterThan(minorUnit(decimals))) {
      finding.differences.push({
        document,
        amount: left.minus(exact).toDecimalPlaces(decimals),
        message: `${formatAmount(left, decimals)} of its VAT is left, while ${formatAmount(exact.toDecimalPlaces(decimals), decimals)} belongs to the ${formatAmount(unused, decimals)} that is unused${waitingHint(prepayment)}`,
      });
    }
    const inSource = refundsLowerUnused ? prepayment.record.unusedAmount : null;
    if (inSource !== null && !inSource.equals(unused)) {
      finding.listed.push({
        document,
        message: `${formatAmount(inSource, decimals)} of it is unused in the source, and ${formatAmount(unused, decimals)} by what is posted and matched: its VAT follows the latter`,
      });
    }
  }

  async #checkTotal(db: Connection, finding: PrepaymentVatFinding): Promise<void> {
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
    if (ledger.equals(expected)) return;
    finding.differences.push({
      document: 'vat',
      amount: ledger.minus(expected),
      message: `VAT is ${formatAmount(ledger, decimals)} in the ledger, while ${formatAmount(expected, decimals)} follows from invoices (${formatAmount(this.#ofInvoices, decimals)}) and unused prepayments`,
    });
  }
}

const nothing: Taken = { amount: zero, vat: zero, withoutVat: zero };

async function takenByPrepayment(db: Connection, { id }: ReconcileInput): Promise<Map<number, Taken>> {
  const found = await rows(
    db,
    { prepayment: integer, has_vat: bool, amount: numeric, vat: numeric },
    `select s.prepayment_id as prepayment, s.has_vat, sum(s.amount) as amount, sum(s.vat) as vat
     from entry_share s join entry e on e.id = s.entry_id
     where s.installation = ? and not exists (select from entry r where r.reverses = e.id)
     group by s.prepayment_id, s.has_vat order by s.prepayment_id`,
    [id],
  );
  const taken = new Map<number, Taken>();
  for (const { prepayment, has_vat: hasVat, amount, vat } of found) {
    const before = taken.get(prepayment) ?? nothing;
    taken.set(prepayment, {
      amount: before.amount.plus(amount),
      vat: before.vat.plus(vat),
      withoutVat: hasVat ? before.withoutVat : before.withoutVat.plus(amount),
    });
  }
  return taken;
}
