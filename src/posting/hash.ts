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

/** The input hash of posted facts. */
export function hashOfPosted({ before, payer, after }: PostedFacts): string {
  return inputHash(payer === null ? [...before, ...after] : [...before, payer, ...after]);
}

/**
 * The register number of a payer who has no VAT number as a posted fact: with the client it is the payer's key (ACCOUNTING R8).
 */
export function registerFacts(register: string | null, vatNumber: string | null): readonly Fact[] {
  return register === null || vatNumber !== null ? [] : [['register number', register]];
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
