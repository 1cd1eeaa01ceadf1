import type { OutsideDocument } from '../../queries/problems.ts';

/** `changed: total 181.00 → 171.00, department 11 → 12`; null without a change. */
export function changesLine(changes: OutsideDocument['changes']): string | null {
  if (changes.length === 0) return null;
  return `changed: ${changes.map(({ field, old, new: now }) => `${field} ${old ?? 'none'} → ${now ?? 'none'}`).join(', ')}`;
}

/** `the correction: 3000 +100.00, 3005 -100.00` (debit positive); null without an effect. */
export function effectLine(effect: OutsideDocument['effect']): string | null {
  if (effect.length === 0) return null;
  const parts = effect.map(({ account, amount }) => `${account} ${amount.startsWith('-') ? '' : '+'}${amount}`);
  return `the correction, debit +: ${parts.join(', ')}`;
}
