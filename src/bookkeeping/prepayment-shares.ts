import type { InstallationConfig } from '../config/load-config.ts';
import { bool } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { type MarkOptions, markKnown } from '../documents/mark.ts';
import type { EntryShare } from '../domain/entry.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { postgresText } from '../domain/text.ts';
import { holdShares, sharesInForce } from '../ledger/journal/shares.ts';
import { refOf } from '../posting/name-absence.ts';
import { vatOfShare } from '../posting/prepayment-vat.ts';
import type { Decision, DocumentFacts, PostedBefore, PrepaymentShare } from '../posting/types.ts';
import type { Taken } from '../prepayments/taken.ts';
import type { DocumentKind, DocumentRef, InstallationId } from '../terms.ts';
import {
  keyOf,
  type OriginalVat,
  originalVats,
  type PlacedTaker,
  takenBy,
  takersInOrder,
  vatOf,
} from './prepayment-takers.ts';
import { postsVatOnPayment } from './vat-due-batch.ts';

/** Whether an installation posts VAT on prepayments at receipt. */
export function postsVatAtReceipt({ mapping }: Pick<InstallationConfig, 'mapping'>): boolean {
  return mapping.policies.prepayment_vat !== 'listed';
}

/**
 * Locks the prepayments of an installation before a transaction judges and posts documents, so that only one
 * transaction at a time assigns shares. If the mapping posts no VAT on prepayments, only prepayments that an earlier
 * mapping posted with VAT have shares.
 */
export async function holdSharesIfGiven(
  trx: Connection,
  installation: InstallationConfig,
  documents: readonly DocumentRef[],
): Promise<void> {
  if (postsVatAtReceipt(installation) || postsVatOnPayment(installation)) return holdShares(trx, installation.id);
  const idsOf = (kind: DocumentKind) => documents.flatMap((document) => (document.kind === kind ? document.id : []));
  const [payments, prepayments] = [idsOf('payment'), idsOf('prepayment')];
  if (payments.length + prepayments.length === 0) return;
  const { given } = await row(
    trx,
    { given: bool },
    `select exists (
       select from (
         select prepayment_id as id from prepayment_match where installation = ? and payment_id = any(?::bigint[])
         union select original_id from prepayment_refund where installation = ? and refund_id = any(?::bigint[])
         union select unnest(?::bigint[])) p
       join document d on d.installation = ? and d.kind = 'prepayment' and d.id = p.id
       join entry_line l on l.entry_id = d.entry_id and l.role = 'prepayment_vat') as given`,
    [installation.id, payments, installation.id, prepayments, prepayments, installation.id],
  );
  if (given) await holdShares(trx, installation.id);
}

/**
 * The decided VAT of originals, by prepayment; null if an original has none. It contains decisions that are not in the
 * database yet.
 */
export type DecidedVats = Map<number, OriginalVat | null>;

/**
 * The shares of prepayments that the documents of a batch take (ACCOUNTING R5). Each share begins after those of
 * documents that were posted before. Shares depend on the prepayments' entries in force, not on the present mapping.
 */
export class PrepaymentShares {
  readonly #taken: ReadonlyMap<DocumentFacts, Taken>;
  readonly #originals: Map<number, OriginalVat>;
  /** For each prepayment, its takers in the order of posting. */
  readonly #takers: Map<number, PlacedTaker[]>;
  readonly #decided: DecidedVats;

  private constructor(
    taken: Map<DocumentFacts, Taken>,
    originals: Map<number, OriginalVat>,
    takers: Map<number, PlacedTaker[]>,
    decided: DecidedVats,
  ) {
    this.#taken = taken;
    this.#originals = originals;
    this.#takers = takers;
    this.#decided = decided;
  }

  /**
   * Returns null if the batch has no VAT on prepayments. `decided` are earlier decisions that were not written; this
   * class adds to it.
   */
  static async of(
    db: Connection,
    installation: InstallationConfig,
    facts: readonly DocumentFacts[],
    decided: DecidedVats = new Map(),
  ): Promise<PrepaymentShares | null> {
    const { id } = installation;
    const taken = await takenBy(db, id, facts);
    const ids = [...new Set([...taken.values()].flatMap((each) => [...each.keys()]))];
    const originals = await originalVats(db, id, ids);
    for (const each of ids) {
      const own = decided.get(each);
      if (own === null) originals.delete(each);
      else if (own !== undefined) originals.set(each, own);
    }
    if (originals.size === 0 && !postsVatAtReceipt(installation) && decided.size === 0) return null;
    return new PrepaymentShares(taken, originals, await takersInOrder(db, id, ids), decided);
  }

  /** The facts of a document, with its shares. */
  add<Facts extends DocumentFacts>(facts: Facts): Facts {
    const taken = this.#taken.get(facts);
    if (taken === undefined || facts.kind === 'invoice' || facts.kind === 'vat_due') return facts;
    const own = keyOf(refOf(facts));
    const shares = [...taken].map(([prepaymentId, amount]): PrepaymentShare => {
      const takers = this.#takers.get(prepaymentId) ?? [];
      const place = takers.findIndex(({ document }) => keyOf(document) === own);
      const before = place === -1 ? takers : takers.slice(0, place);
      const usedBefore = sum(before.filter(({ isInForce }) => isInForce).map((taker) => taker.amount));
      return { prepaymentId, amount, usedBefore, vat: this.#originals.get(prepaymentId) ?? null };
    });
    return { ...facts, shares };
  }

  /** Stores the decision about a document for the documents after it. */
  decided(facts: DocumentFacts, { entries }: Decision): void {
    const last = entries.at(-1);
    if (last === undefined || facts.kind === 'invoice' || facts.kind === 'vat_due') return;
    const isInForce = last.reverses === null;
    const document = refOf(facts);
    for (const [prepaymentId, amount] of this.#taken.get(facts) ?? []) {
      const takers = this.#takers.get(prepaymentId) ?? [];
      const own = takers.find((taker) => keyOf(taker.document) === keyOf(document));
      if (own !== undefined) own.isInForce = isInForce;
      else this.#takers.set(prepaymentId, [...takers, { prepaymentId, document, amount, isInForce }]);
    }
    if (facts.kind !== 'prepayment') return;
    const vat = isInForce ? vatOf(last.lines) : null;
    this.#decided.set(document.id, vat);
    if (vat === null) this.#originals.delete(document.id);
    else this.#originals.set(document.id, vat);
  }
}

/** The decision about a document, and the shares that it used. */
interface DecidedDocument {
  document: DocumentRef & { before: PostedBefore };
  decision: Decision;
  shares: readonly PrepaymentShare[];
}

/**
 * After decisions were written, marks documents that take from the same prepayments and now return another VAT, or on
 * other accounts, so that they are posted again. A decision without entries does not mark documents with a problem,
 * because two such documents would mark each other forever.
 */
export async function markOtherTakers(
  trx: Connection,
  { id, decimals }: InstallationConfig,
  decided: readonly DecidedDocument[],
): Promise<void> {
  // Prepayments whose own VAT changed, prepayments that another document took from, and prepayments that a held
  // document is to take from.
  const moved = new Set<number>();
  const touched = new Set<number>();
  const awaited = new Set<number>();
  for (const { document, decision, shares } of decided) {
    const { inForce } = document.before;
    const last = decision.entries.at(-1);
    if (document.kind === 'prepayment' && last !== undefined) {
      const now = last.reverses === null ? vatOf(last.lines) : null;
      const before = inForce === null ? null : vatOf(inForce.lines);
      if (textOf(now) !== textOf(before)) moved.add(document.id);
    }
    const given = inForce?.shares ?? [];
    const concerned = last !== undefined ? touched : isOtherVat(given, shares, decimals) ? awaited : null;
    if (concerned !== null) for (const { prepaymentId } of [...given, ...shares]) concerned.add(prepaymentId);
  }
  const ids = [...new Set([...moved, ...touched, ...awaited])];
  if (ids.length === 0) return;
  const takers = await takersInOrder(trx, id, ids);
  if (takers.size === 0) return;
  const originals = await originalVats(trx, id, ids);
  const given = new Map<string, Money>();
  for (const { prepaymentId, document, vat } of await sharesInForce(trx, id, ids))
    given.set(`${prepaymentId} ${keyOf(document)}`, vat);
  const others: DocumentRef[] = [];
  const withoutProblem: DocumentRef[] = [];
  for (const [prepaymentId, its] of takers) {
    const vat = originals.get(prepaymentId) ?? null;
    let usedBefore = zero;
    for (const { document, amount, isInForce } of its) {
      if (!isInForce) continue;
      const wanted = vatOfShare({ usedBefore, amount, vat }, decimals);
      const inForce = given.get(`${prepaymentId} ${keyOf(document)}`) ?? zero;
      const isNone = wanted.isZero() && inForce.isZero();
      if (moved.has(prepaymentId) ? !isNone : !wanted.equals(inForce))
        (moved.has(prepaymentId) || touched.has(prepaymentId) ? others : withoutProblem).push(document);
      usedBefore = usedBefore.plus(amount);
    }
  }
  await markEach(trx, id, others, {});
  await markEach(trx, id, withoutProblem, { withoutProblem: true });
}

/** Whether a document must return another amount of VAT than its entry in force returns. */
function isOtherVat(given: readonly EntryShare[], shares: readonly PrepaymentShare[], decimals: number): boolean {
  const vats = new Map(given.map(({ prepaymentId, vat }) => [prepaymentId, vat]));
  for (const share of shares) {
    const before = vats.get(share.prepaymentId) ?? zero;
    vats.set(share.prepaymentId, before.minus(vatOfShare(share, decimals)));
  }
  return [...vats.values()].some((left) => !left.isZero());
}

/** Whether two original VAT amounts are the same in every field. */
function textOf(vat: OriginalVat | null): string {
  return JSON.stringify(
    vat && [vat.account, vat.suspendedAccount, postgresText(vat.group ?? ''), vat.rate, vat.amount, vat.paid],
  );
}

async function markEach(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
  options: MarkOptions,
): Promise<void> {
  for (const kind of ['payment', 'prepayment'] satisfies DocumentKind[]) {
    const ids = new Set(documents.flatMap((document) => (document.kind === kind ? document.id : [])));
    const ordered = [...ids].sort((a, b) => a - b);
    if (ordered.length > 0) await markKnown(trx, installation, kind, ordered, options);
  }
}
