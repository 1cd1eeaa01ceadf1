import { z } from 'zod';
import type { FiledReturns } from '../../queries/vat-return-state.ts';
import { vatReturnTexts } from '../../texts/reports/vat-returns.ts';
import { amount, date } from '../answer.ts';

/** The changes since VAT returns were filed. */
export const filedReturnsAnswer = z
  .strictObject({
    ok: z.boolean(),
    filed_through: date.nullable(),
    changed: z.array(z.strictObject({ period: z.string(), entries: z.number(), tax: amount })),
    late: z.strictObject({ entries: z.number(), missed: z.number(), tax: amount }),
  })
  .meta({ id: 'filed_vat_returns' });

/** A line for each changed return, and one for late entries. Empty if there are none. */
export function filedReturnLines({ changed, late }: FiledReturns): string[] {
  return [...changed.map(vatReturnTexts.changed), ...(late.entries === 0 ? [] : [vatReturnTexts.late(late)])];
}
