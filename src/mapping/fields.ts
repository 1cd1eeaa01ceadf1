import { z } from 'zod';
import { isCalendarDate } from '../domain/dates.ts';
import { parseMoney } from '../domain/money.ts';
import { isNear } from '../domain/nearest.ts';

/** Schemas of the values in a mapping file, with their messages. */

/** In a mapping: the value of the source. */
const same = 'same';

export const notOne = 'must be an account code (put it in quotes)';
export const account = accountOr(notOne);
/** A name in the ERP, such as a tax: any text. */
export const word = wordOr(notOne);

function wordOr(several: string) {
  // YAML reads 1700 as the integer 1700, which is accepted. A decimal number is refused, because YAML does not keep its
  // digits as written.
  return z
    .union([z.string(), z.int().nonnegative(), z.null()], {
      error: ({ input }) => (typeof input === 'object' ? several : notOne),
    })
    .transform((code) => (code === null ? '' : String(code).trim()));
}

/** An account; `several` is the message for a list or table. */
export function accountOr(several: string) {
  return wordOr(several).superRefine((code, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message });
    if (/\s/.test(code)) add(`must not have a blank inside: "${code}"; did you mean "${code.replaceAll(/\s/g, '')}"?`);
    // A code with a digit is not a misspelt `same`.
    else if (code !== same && !/\d/.test(code) && isNear(code, same)) add(`is "${code}"; did you mean \`same\`?`);
  });
}

export const code = z.union([z.string(), z.int()], { error: 'must be a code (put it in quotes)' }).transform(String);

/** A condition: one value or a list of alternatives. Null matches rows without a value. */
export function oneOrMore<Item extends z.ZodType>(item: Item) {
  return z
    .union([item, z.array(item).min(1, 'must not be empty')], { error: (issue) => conditionError(issue) })
    .transform((value): z.output<Item>[] => (Array.isArray(value) ? value : [value]));
}

/** Shows the item's message instead of "invalid input" of the union. */
function conditionError(issue: z.core.$ZodRawIssue): string {
  const inner = issue.code === 'invalid_union' ? (issue.errors as z.core.$ZodIssue[][]).flat() : [];
  return inner.find(({ code }) => code === 'custom')?.message ?? 'must be a text, a number or a list of them';
}

export const textCondition = oneOrMore(
  z.union([z.string(), z.int(), z.null()]).transform((text) => (text === null ? null : String(text).trim() || null)),
);
export const departmentCondition = oneOrMore(
  z.union([z.int().positive(), z.string().regex(/^\d+$/, 'must be the id of a department'), z.null()]),
).transform((ids) => ids.map((id) => (id === null ? null : Number(id))));
/** A rate in per cent, in its shortest form. */
export const rateOf = z.union([z.string(), z.number()]).transform((rate, context) => {
  const exact = parseMoney(String(rate));
  if (exact !== null && !exact.isNegative()) return exact.toFixed();
  context.addIssue({ code: 'custom', message: 'must be a rate in per cent' });
  return z.NEVER;
});

export const rateCondition = oneOrMore(
  z.union([z.string(), z.number(), z.null()]).transform((rate, context) => {
    const exact = rate === null ? null : parseMoney(String(rate))?.toFixed();
    if (exact !== undefined) return exact;
    context.addIssue({ code: 'custom', message: 'must be a rate in per cent' });
    return z.NEVER;
  }),
);

/** An amount of zero or more. Numbers in YAML keep their digits as texts (src/config/yaml.ts). */
export function amount(without: string) {
  return z
    .union([z.string(), z.number()])
    .default(without)
    .transform((text, context) => {
      const found = parseMoney(String(text));
      if (found !== null && !found.isNegative()) return found;
      context.addIssue({ code: 'custom', message: 'must be an amount' });
      return z.NEVER;
    });
}

/** A calendar date. */
export const date = z
  .string({ error: 'must be a date such as 2026-01-31' })
  .refine(isCalendarDate, 'must be a date such as 2026-01-31');
