// Schemas that the JSON of several commands shares. Times and amounts are texts.
import { z } from 'zod';

export const instant = z.iso.datetime();
export const date = z.iso.date();
/** An amount in the currency of the installation. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/);

export const plainError = z
  .strictObject({ code: z.string(), message: z.string(), todo: z.string() })
  .meta({ id: 'error' });
export const remark = z.strictObject({ code: z.string(), message: z.string() });

/** Number per state, kind or code. */
export const counts = z.record(z.string(), z.number());
export const documentStates = z.strictObject({ invoices: counts, payments: counts, prepayments: counts });
