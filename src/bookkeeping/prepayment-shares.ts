import type { InstallationConfig } from '../config/load.ts';
import { integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import { type Line, signed } from '../domain/entry.ts';
import { Money, sum, zero } from '../domain/money.ts';
import { holdShares, sharesInForce } from '../ledger/journal/shares.ts';
import type { Decision, DocumentFacts, PostedBefore, PrepaymentShare } from '../posting/types.ts';
import { type Taken, type Taker, takenByUses, takersOf } from '../prepayments/taken.ts';
import { prepaymentUse } from '../records/prepayment-words.ts';
import { type DocumentKind, type InstallationId, lineRoles, sides } from '../terms.ts';

type OriginalVat = NonNullable<PrepaymentShare['vat']>;

/** Whether an installation posts VAT on prepayments at receipt. */
export function postsVatAtReceipt({ mapping }: Pick<InstallationConfig, 'mapping'>): boolean {
  return mapping.policies.prepayment_vat !== 'listed';
}

/** As a posting transaction begins: one at a time gives shares of an installation's prepayments. */
export async function holdSharesIfGiven(trx: Connection, installation: InstallationConfig): Promise<void> {
  if (postsVatAtReceipt(installation)) await holdShares(trx, installation.id);
}

/**
 * The shares of prepayments that a batch's documents take (ACCOUNTING R5), in the order in which they are decided: each begins where the
 * ones decided before it end. A document that is posted anew keeps the share that its entry in force has, which was recorded then.
 */
export class PrepaymentShares {
  readonly #taken: ReadonlyMap<DocumentFacts, Taken>;
  readonly #originals: Map<number, OriginalVat>;
  readonly #used: Map<number, Money>;

  private constructor(taken: Map<DocumentFacts, Taken>, originals: Map<number, OriginalVat>, used: Map<number, Money>) {
    this.#taken = taken;
    this.#originals = originals;
    this.#used = used;
  }

  /** Null where the installation posts no VAT on prepayments, or nothing of the batch has to do with them. */
  static async of(
    db: Connection,
    installation: InstallationConfig,
    facts: readonly DocumentFacts[],
  ): Promise<PrepaymentShares | null> {
    if (!postsVatAtReceipt(installation)) return null;
    const { id } = installation;
    const taken = await takenBy(db, id, facts);
    const ids = [...new Set([...taken.values()].flatMap((each) => [...each.keys()]))];
    const shares = await sharesInForce(db, id, ids);
    const used = new Map<number, Money>();
    for (const { prepaymentId, amount } of shares) {
      used.set(prepaymentId, (used.get(prepaymentId) ?? zero).plus(amount));
    }
    return new PrepaymentShares(taken, await originalVats(db, id, ids), used);
  }

  /** The facts of a document, with its shares. */
  add<Facts extends DocumentFacts>(facts: Facts, { inForce }: PostedBefore): Facts {
    const taken = this.#taken.get(facts);
    if (taken === undefined || facts.kind === 'invoice') return facts;
    const shares = [...taken].map(([prepaymentId, amount]): PrepaymentShare => {
      const own = inForce?.shares?.find((share) => share.prepaymentId === prepaymentId);
      const isSame = own?.amount.equals(amount) ?? false;
      const others = (this.#used.get(prepaymentId) ?? zero).minus(own?.amount ?? zero);
      const usedBefore = own !== undefined && isSame ? own.usedBefore : others;
      return { prepaymentId, amount, usedBefore, vat: this.#originals.get(prepaymentId) ?? null };
    });
    return { ...facts, shares };
  }

  /** Notes what was decided about a document, for those after it. */
  decided(facts: DocumentFacts, { inForce }: PostedBefore, { entries }: Decision): void {
    const last = entries.at(-1);
    if (last === undefined) return;
    const now = last.reverses === null ? last : null;
    const add = (id: number, amount: Money) => this.#used.set(id, (this.#used.get(id) ?? zero).plus(amount));
    for (const { prepaymentId, amount } of inForce?.shares ?? []) add(prepaymentId, amount.negated());
    for (const { prepaymentId, amount } of now?.shares ?? []) add(prepaymentId, amount);
    if (facts.kind !== 'prepayment') return;
    const vat = now === null ? null : vatOf(now.lines);
    if (vat === null) this.#originals.delete(facts.prepayment.id);
    else this.#originals.set(facts.prepayment.id, vat);
  }
}

/**
 * Marks what was taken from prepayments whose entry has VAT now, and gave none of it back, and the other way round: it is posted anew.
 */
export async function markUsesOfOtherVat(
  trx: Connection,
  installation: InstallationConfig,
  decided: readonly { facts: DocumentFacts['kind']; id: number; decision: Decision }[],
): Promise<void> {
  if (!postsVatAtReceipt(installation)) return;
  const hasVat = new Map<number, boolean>();
  for (const { facts, id, decision } of decided) {
    const last = decision.entries.at(-1);
    if (facts === 'prepayment' && last) hasVat.set(id, last.reverses === null && vatOf(last.lines) !== null);
  }
  const ids = [...hasVat.keys()];
  const takers = await takersOf(trx, installation.id, ids);
  const shares = await sharesInForce(trx, installation.id, takers.length === 0 ? [] : ids);
  const gaveBack = new Set(shares.filter((share) => share.hasVat).map(keyOf));
  const waiting = takers.filter((taker) => hasVat.get(taker.prepaymentId) !== gaveBack.has(keyOf(taker)));
  for (const kind of ['payment', 'prepayment'] satisfies DocumentKind[]) {
    const own = new Set(waiting.flatMap(({ document }) => (document.kind === kind ? document.id : [])));
    if (own.size > 0)
      await markKnown(
        trx,
        installation.id,
        kind,
        [...own].sort((a, b) => a - b),
      );
  }
}

const keyOf = ({ prepaymentId, document: { kind, id } }: Taker): string => `${prepaymentId} ${kind}/${id}`;

async function takenBy(
  db: Connection,
  installation: InstallationId,
  facts: readonly DocumentFacts[],
): Promise<Map<DocumentFacts, Taken>> {
  const taken = new Map<DocumentFacts, Taken>();
  const uses: { facts: DocumentFacts; id: number }[] = [];
  for (const one of facts) {
    if (one.kind === 'payment' && one.payment.paymentType === prepaymentUse)
      uses.push({ facts: one, id: one.payment.id });
    if (one.kind !== 'prepayment') continue;
    const { refundsId, paid } = one.prepayment;
    if (refundsId !== null && paid?.isNegative()) taken.set(one, new Map([[refundsId, paid.negated()]]));
  }
  const matches = await takenByUses(
    db,
    installation,
    uses.map(({ id }) => id),
  );
  for (const { facts: one, id } of uses) {
    const own = matches.get(id);
    if (own !== undefined) taken.set(one, own);
  }
  return taken;
}

/** What the entries in force of prepayments say of their VAT; those without VAT are left out. */
async function originalVats(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<Map<number, OriginalVat>> {
  if (prepayments.length === 0) return new Map();
  const found = await rows(
    db,
    {
      ...{ id: integer, account: text, role: oneOf(lineRoles), side: oneOf(sides), amount: numeric },
      ...{ vat_group: nullable(text), vat_rate: nullable(numeric) },
    },
    `select d.id, l.account, l.role, l.side, l.amount, l.vat_group, l.vat_rate
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = 'prepayment' and d.id = any(?::bigint[])`,
    [installation, prepayments],
  );
  const vats = new Map<number, OriginalVat>();
  for (const [id, its] of Map.groupBy(found, (line) => line.id)) {
    const lines = its.map(({ amount, vat_group: group, vat_rate: rate, ...line }) => ({
      ...line,
      amount: new Money(amount),
      vat: { group, rate: rate === null ? null : new Money(rate), base: null },
    }));
    const vat = vatOf(lines);
    if (vat !== null) vats.set(id, vat);
  }
  return vats;
}

/** The VAT of a prepayment's own entry; null where it has none, as a refund's never counts. */
function vatOf(lines: readonly Pick<Line, 'account' | 'role' | 'side' | 'amount' | 'vat'>[]): OriginalVat | null {
  const suspended = lines.find(({ role }) => role === 'prepayment_vat');
  const owed = lines.find(({ role }) => role === 'vat');
  if (suspended === undefined || owed === undefined || suspended.side !== 'debit') return null;
  const liability = lines.filter(({ role }) => role === 'prepayment_liability');
  return {
    account: owed.account,
    suspendedAccount: suspended.account,
    group: owed.vat?.group ?? null,
    rate: owed.vat?.rate ?? null,
    amount: suspended.amount,
    paid: sum(liability.map(signed)).negated(),
  };
}
