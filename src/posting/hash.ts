import { hash } from 'node:crypto';
import { Decimal } from 'decimal.js';

/** A fact that is posted: text, number, amount, or a list or table of them. */
export type Fact = string | number | boolean | null | Decimal | readonly Fact[];

/**
 * Hash of the posted facts (ACCOUNTING R8): the same facts always give the same hash, whatever their order of arrival. What
 * the mapping made of them (accounts, counterparties) is left out: a changed mapping alone never reposts a document.
 */
export function inputHash(facts: readonly Fact[]): string {
  return hash('sha256', JSON.stringify(facts.map(plain)), 'hex');
}

/** Hash of a reversal: each entry has one reversal. */
export function reversalHash(entryId: string): string {
  return inputHash(['reversal of', entryId]);
}

/** Facts whose order means nothing, in the one order they are hashed in. */
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
