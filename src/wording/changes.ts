import { paymentTypeName } from '../mapping/payment-types.ts';
import type { FieldChange } from '../posting/changed-fields.ts';
import { changeTexts } from '../texts/reports/changes.ts';

/** Example: `changed: total 181.00 → 171.00, department 11 → 12`. Null without a change. */
export function changesLine(changes: readonly FieldChange[]): string | null {
  if (changes.length === 0) return null;
  const parts = changes.map(({ field, old, new: now }) =>
    changeTexts.change({ field, old: valueText(field, old), now: valueText(field, now) }),
  );
  return changeTexts.changed({ changes: parts.join(', ') });
}

/** A value in words; a payment type is stored as its number. */
function valueText(field: string, value: string | null): string {
  if (value === null) return changeTexts.none;
  return field === 'payment type' ? paymentTypeName(Number(value)) : value;
}
