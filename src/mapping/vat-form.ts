import { z } from 'zod';
import { Money, sum, zero } from '../domain/money.ts';
import { vatKinds } from './vat-group-lines.ts';

/**
 * The sales boxes of a country's VAT return form, as data (mappings/vat-forms). A box has bases or tax of some kinds
 * and rates, rounded as the form requires.
 */

const rate = z.union([z.number(), z.string()]).transform((value) => new Money(String(value)).toFixed());

const box = z
  .strictObject({
    box: z.string().nullable().describe('the number on the form; null: the form has no box for these sales'),
    title: z.string().min(1).describe('what the form calls it'),
    of: z.enum(['base', 'tax']).describe('which amount it has'),
    kinds: z.array(z.enum(vatKinds)).min(1).describe('kinds of VAT groups (`vat_groups` of the mapping)'),
    rates: z.array(rate).min(1).optional().describe('rates in per cent; left out: any rate'),
    round: z.enum(['cent', 'unit']).default('cent').describe('unit: whole euros or kronor, the rest is dropped'),
    computed: z
      .boolean()
      .default(false)
      .describe('the form computes the tax: the base in whole units times the one rate in `rates`'),
  })
  .refine(({ computed, of, rates }) => !computed || (of === 'tax' && rates?.length === 1), {
    error: 'a computed box has tax, and one rate',
  });

export const vatFormSchema = z.strictObject({
  name: z.string().min(1).describe('the form and its year'),
  country: z.string().regex(/^[A-Z]{2}$/),
  boxes: z.array(box).min(1),
});

export type VatForm = z.output<typeof vatFormSchema>;
type Box = VatForm['boxes'][number];

/** The JSON schema of a form's file, for editors. */
export function vatFormJsonSchema(): Record<string, unknown> {
  return {
    title: 'The sales boxes of a VAT return form',
    ...z.toJSONSchema(vatFormSchema, { io: 'input', target: 'draft-7' }),
  };
}

/** Base and tax of one VAT group, or of a line of it. */
export interface FormLine {
  kind: string | null;
  rate: string | null;
  base: Money;
  tax: Money;
}

export interface FilledBox<Line extends FormLine> {
  /** The box of the form. Null if no box takes these amounts. */
  box: string | null;
  title: string | null;
  of: 'base' | 'tax';
  /** The amount on the form; null if the form has no box for these amounts. */
  form: Money | null;
  /** The exact amount of the books, which is the sum of the lines. */
  books: Money;
  lines: Line[];
}

/**
 * The boxes of a form with the amounts of a return. Boxes without lines are left out. Some amounts fit into no box. They become
 * lines without a box, one for each kind and rate: a base if no box has this kind of sale, and tax if no tax box has it.
 */
export function fillForm<Line extends FormLine>({ boxes }: VatForm, lines: readonly Line[]): FilledBox<Line>[] {
  const filled = boxes.flatMap((one): FilledBox<Line>[] => {
    const own = lines.filter((line) => takes(one, line));
    if (own.length === 0) return [];
    const books = sum(own.map((line) => line[one.of]));
    return [{ box: one.box, title: one.title, of: one.of, form: formAmount(one, own, books), books, lines: own }];
  });
  const left = (of: 'base' | 'tax', isTaken: (line: Line) => boolean) => {
    const own = lines.filter((line) => !line[of].isZero() && !isTaken(line));
    return [...Map.groupBy(own, ({ kind, rate: at }) => JSON.stringify([kind, at])).values()].map((group) => ({
      ...{ box: null, title: null, of, form: null, books: sum(group.map((line) => line[of])), lines: group },
    }));
  };
  return [
    ...filled,
    ...left('base', (line) => boxes.some((one) => takes(one, line))),
    ...left('tax', (line) => boxes.some((one) => one.of === 'tax' && takes(one, line))),
  ];
}

function takes({ kinds, rates }: Box, { kind, rate: at }: FormLine): boolean {
  return kinds.some((one) => one === kind) && (rates === undefined || (at !== null && rates.includes(at)));
}

function formAmount({ box: number, round, computed, rates = [] }: Box, lines: readonly FormLine[], books: Money) {
  if (number === null) return null;
  if (computed)
    return inUnits(sum(lines.map(({ base }) => base)))
      .times(rates[0] ?? zero)
      .dividedBy(100)
      .toDecimalPlaces(2);
  return round === 'unit' ? inUnits(books) : books;
}

/** Removes the part of an amount below a whole unit. */
function inUnits(amount: Money): Money {
  return amount.toDecimalPlaces(0, Money.ROUND_DOWN);
}
