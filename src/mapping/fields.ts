import { z } from 'zod';
import { isCalendarDate } from '../domain/dates.ts';
import { parseMoney } from '../domain/money.ts';
import { isNear, nearest } from '../domain/nearest.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';

/** Schemas of the values in a mapping file, with their messages. */

/** In a mapping: the value of the source. */
const same = 'same';

export const account = accountOr(mappingFaults.accountCode);
/** A name in the ERP, such as a tax: any text. */
export const word = wordOr(mappingFaults.accountCode);

function wordOr(several: string) {
  // YAML reads 1700 as the integer 1700, which is accepted. A decimal number is refused, because YAML does not keep its
  // digits as written.
  return z
    .union([z.string(), z.int().nonnegative(), z.null()], {
      error: ({ input }) => (typeof input === 'object' ? several : mappingFaults.accountCode),
    })
    .transform((code) => (code === null ? '' : String(code).trim()));
}

/** An account; `several` is the message for a list or table. */
export function accountOr(several: string) {
  return wordOr(several).superRefine((code, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message });
    if (/\s/.test(code)) add(mappingFaults.blankInside({ code, without: code.replaceAll(/\s/g, '') }));
    // A code with a digit is not a misspelt `same`.
    else if (code !== same && !/\d/.test(code) && isNear(code, same)) add(mappingFaults.nearSame({ code }));
  });
}

export const code = z.union([z.string(), z.int()], { error: mappingFaults.code }).transform(String);

/** A condition: one value or a list of alternatives. Null matches rows without a value. */
export function oneOrMore<Item extends z.ZodType>(item: Item) {
  return z
    .union([item, z.array(item).min(1, mappingFaults.empty)], { error: (issue) => conditionError(issue) })
    .transform((value): z.output<Item>[] => (Array.isArray(value) ? value : [value]));
}

/** Shows the item's message instead of "invalid input" of the union. */
function conditionError(issue: z.core.$ZodRawIssue): string {
  const inner = issue.code === 'invalid_union' ? (issue.errors as z.core.$ZodIssue[][]).flat() : [];
  return inner.find(({ code }) => code === 'custom')?.message ?? mappingFaults.textOrList;
}

export const textCondition = oneOrMore(
  z.union([z.string(), z.int(), z.null()]).transform((text) => (text === null ? null : String(text).trim() || null)),
);
export const departmentCondition = oneOrMore(
  z.union([z.int().positive(), z.string().regex(/^\d+$/, mappingFaults.departmentId), z.null()]),
).transform((ids) => ids.map((id) => (id === null ? null : Number(id))));
/** A rate in per cent, in its shortest form. */
export const rateOf = z.union([z.string(), z.number()]).transform((rate, context) => {
  const exact = parseMoney(String(rate));
  if (exact !== null && !exact.isNegative()) return exact.toFixed();
  context.addIssue({ code: 'custom', message: mappingFaults.rate });
  return z.NEVER;
});

export const rateCondition = oneOrMore(
  z.union([z.string(), z.number(), z.null()]).transform((rate, context) => {
    const exact = rate === null ? null : parseMoney(String(rate))?.toFixed();
    if (exact !== undefined) return exact;
    context.addIssue({ code: 'custom', message: mappingFaults.rate });
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
      context.addIssue({ code: 'custom', message: mappingFaults.amount });
      return z.NEVER;
    });
}

/** A hint for an unknown word: the nearest known word, or all of them. */
export function knownHint(word: string, known: readonly string[]): string {
  const near = nearest(word, [...known]);
  return near === null ? mappingFaults.known({ values: known.join(', ') }) : mappingFaults.didYouMean({ near });
}

/** A calendar date. */
export const date = z.string({ error: mappingFaults.date }).refine(isCalendarDate, mappingFaults.date);

/** The last day of a fiscal year. */
export const monthAndDay = z
  .string({ error: mappingFaults.monthAndDay })
  .refine((text) => /^\d{2}-\d{2}$/.test(text) && isCalendarDate(`2024-${text}`), mappingFaults.monthAndDay);

export const departmentId = z.string().regex(/^\d+$/, mappingFaults.departmentId);
