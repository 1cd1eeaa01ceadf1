import { hash } from 'node:crypto';
import { Decimal } from 'decimal.js';

/** A value that goes into the input hash. */
export type Fact = string | number | boolean | null | Decimal | readonly Fact[];

/**
 * SHA-256 of the posted facts, in hex (ACCOUNTING R8). Amounts enter by value: 1.50 and 1.5 are equal. Accounts and
 * counterparties from the mapping do not belong in it: a changed mapping alone must not repost a document.
 */
export function inputHash(facts: readonly Fact[]): string {
  return hash('sha256', JSON.stringify(facts.map(plain)), 'hex');
}

/** Facts as they are hashed: `payer` begins with the client, and is one fact among the others; null where there is none. */
export interface PostedFacts {
  before: readonly Fact[];
  payer: readonly Fact[] | null;
  after: readonly Fact[];
}

/** The input hash of posted facts, or, with a name, the one that they had while the payer's name was among them. */
export function hashOfPosted({ before, payer, after }: PostedFacts, payerName?: string | null): string {
  if (payer === null) return inputHash([...before, ...after]);
  const [client = null, ...rest] = payer;
  return inputHash([...before, payerName === undefined ? payer : [client, payerName, ...rest], ...after]);
}

const registerNumber = 'register number';

/**
 * The register number of a payer who has no VAT number as a posted fact: with the client it is the payer's key (ACCOUNTING R8). One
 * that was not there before is no change of the payer, so it is left out where there is none.
 */
export function registerFacts(register: string | null, vatNumber: string | null): readonly Fact[] {
  return register === null || vatNumber !== null ? [] : [[registerNumber, register]];
}

/** What an entry says of itself, beside its hash. */
export interface Told {
  payerName: string | null;
  /** The shares of prepayments that were received with VAT. */
  shares: readonly { prepaymentId: number; amount: Decimal }[];
}

/**
 * Whether facts are those that an entry was posted from, by its hash. Older entries count the shares of prepayments that gave VAT back;
 * still older ones have no register number among their facts, and count the payer's name. They are compared as if the document still
 * had the shares and the name that are in the entry.
 */
export function isHashOf(hash: string, facts: PostedFacts, { payerName, shares }: Told): boolean {
  const isRegister = (fact: Fact) => Array.isArray(fact) && fact[0] === registerNumber;
  const payer = facts.payer?.filter((fact) => !isRegister(fact)) ?? null;
  const given: Fact[] = shares.map(({ prepaymentId, amount }) => [prepaymentId, amount]);
  const withShares = { ...facts, after: [...facts.after, 'VAT of prepayments', ...given] };
  return [facts, ...(given.length > 0 ? [withShares] : [])].some(
    (each) =>
      hash === hashOfPosted(each) ||
      hash === hashOfPosted({ ...each, payer }) ||
      hash === hashOfPosted({ ...each, payer }, payerName),
  );
}

/** Input hash of the reversal of an entry; by the entry's id, because an entry is reversed at most once. */
export function reversalHash(entryId: string): string {
  return inputHash(['reversal of', entryId]);
}

/** Facts in a canonical order, for lists whose order has no meaning. */
export function unordered(facts: readonly Fact[]): Fact {
  return facts
    .map((fact) => ({ fact, text: JSON.stringify(plain(fact)) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ fact }) => fact);
}

function plain(fact: Fact): unknown {
  if (fact instanceof Decimal) return fact.isZero() ? '0' : fact.toFixed();
  return Array.isArray(fact) ? fact.map(plain) : fact;
}
