import { hash } from 'node:crypto';
import { Decimal } from 'decimal.js';

/** A value of the input hash. */
export type Fact = string | number | boolean | null | Decimal | readonly Fact[];

/**
 * SHA-256 of the posted facts, in hex (ACCOUNTING R8). Amounts are compared by value: 1.50 equals 1.5. Accounts and
 * counterparties of the mapping are left out, because a changed mapping alone must not post a document again.
 */
export function inputHash(facts: readonly Fact[]): string {
  return hash('sha256', JSON.stringify(facts.map(plain)), 'hex');
}

/** Facts in the order of the hash. `payer` begins with the client and is one fact; null if there is no payer. */
export interface PostedFacts {
  before: readonly Fact[];
  payer: readonly Fact[] | null;
  after: readonly Fact[];
}

export function hashOfPosted({ before, payer, after }: PostedFacts): string {
  return inputHash(payer === null ? [...before, ...after] : [...before, payer, ...after]);
}

/**
 * The register number identifies a payer without a VAT number, together with the client (ACCOUNTING R8). Empty if the
 * payer has a VAT number.
 */
export function registerFacts(register: string | null, vatNumber: string | null): readonly Fact[] {
  return register === null || vatNumber !== null ? [] : [['register number', register]];
}

/** Input hash of a reversal, from the reversed entry's id, because an entry is reversed at most once. */
export function reversalHash(entryId: string): string {
  return inputHash(['reversal of', entryId]);
}

/** Facts of a list whose order has no meaning, in a canonical order. */
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
