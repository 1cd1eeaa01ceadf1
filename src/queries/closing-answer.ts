import { z } from 'zod';
import { amount, counts, date, instant } from './answer.ts';

/** The changes since VAT returns were filed. */
export const filedReturnsAnswer = z
  .strictObject({
    ok: z.boolean(),
    filed_through: date.nullable(),
    changed: z.array(z.strictObject({ period: z.string(), entries: z.number(), tax: amount })),
    late: z.strictObject({ entries: z.number(), missed: z.number(), tax: amount }),
  })
  .meta({ id: 'filed_vat_returns' });

const listedDocuments = z.strictObject({
  ok: z.boolean(),
  count: z.number(),
  by_code: counts,
  documents: z.array(
    z.strictObject({
      ...{ document: z.string(), code: z.string(), date: date.nullable(), in_force: z.string().nullable() },
      ...{ amount: amount.nullable(), client_id: z.number().nullable(), age_days: z.number().nullable() },
    }),
  ),
});
const balances = z.array(z.strictObject({ account: z.string(), role: z.string(), balance: amount }));

/** The checklist of a close, as the answers of commands and the stored closes have it. */
export const checklistAnswer = z
  .strictObject({
    through: date,
    closed_through: date.nullable(),
    made_at: instant,
    ok: z.boolean(),
    last_window: z.strictObject({ ok: z.boolean(), to: instant.nullable() }),
    held: listedDocuments,
    late: listedDocuments,
    drafts: listedDocuments,
    undelivered: z.strictObject({ ok: z.boolean(), count: z.number(), states: counts }).nullable(),
    remarks: z.strictObject({
      ok: z.boolean(),
      count: z.number(),
      by_code: z.array(
        z.strictObject({ code: z.string(), count: z.number(), amount: amount.nullable(), todo: z.string() }),
      ),
    }),
    differences: z.strictObject({
      ok: z.boolean(),
      equations: z.array(
        z.strictObject({
          equation: z.string(),
          difference: amount.nullable(),
          documents: z.number().nullable(),
          each: z
            .array(z.strictObject({ document: z.string(), difference: z.string(), message: z.string() }))
            .optional(),
        }),
      ),
    }),
    clearing: z.strictObject({ ok: z.boolean(), accounts: balances }),
    unused_prepayments: z.strictObject({
      accounts: balances,
      listed: z.strictObject({ month_end: date, balance: amount }).nullable(),
    }),
    owed_as_revenue: z.strictObject({
      ok: z.boolean(),
      names_known: z.boolean(),
      found: z.array(
        z.strictObject({
          key: z.string(),
          of: z.enum(['account', 'VAT group']),
          name: z.string().nullable(),
          looks_like: z.string(),
          rows: z.number(),
          posted_to: z.array(z.string()),
          net: amount,
        }),
      ),
    }),
    liabilities_in_debit: z.strictObject({ ok: z.boolean(), accounts: balances }),
    vat_returns: filedReturnsAnswer,
  })
  .meta({ id: 'checklist' });
