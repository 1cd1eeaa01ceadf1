// Fields of the schemas for requests and answers. The server validates with them, and the OpenAPI description is
// generated from them. Names and messages follow Django REST Framework, as the field notes describe.
import type { Decimal } from 'decimal.js';
import { z } from 'zod';
import { type Amount, dec, fixed } from '../money.ts';
import { isDate } from '../zone.ts';
import { dependent } from './forms.ts';

/** The largest id, and the largest whole number in a request. */
const maxInteger = 999_999_999_999_999;
/**
 * Accepts years of three centuries. Others are typing errors, and some would not have four digits in every time zone.
 */
const timePattern =
  /^(?:19|20|21)\d{2}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?(?:Z|z|[+-]\d{2}:?\d{2})?)?$/;
/** Strict mode accepts only a date with a time. */
const strictTimePattern = /^(?:19|20|21)\d{2}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d{1,6})?(?:Z|[+-]\d{2}:\d{2})?$/;

/** Refuses NUL characters, because PostgreSQL, which the service uses, cannot store them in text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character that is refused.
export const withoutNul = /^[^\u0000]*$/;

/** The message for an absent field, a null, or a value of the wrong kind. */
export const says = (wrong: string) => (issue: { input?: unknown }) => {
  if (issue.input === undefined) return 'This field is required.';
  return issue.input === null ? 'This field may not be null.' : wrong;
};

/** A text that is not empty and has no NUL characters. */
export const text = (max = 10_000) =>
  z
    .string({ error: says('Not a valid string.') })
    .min(1, 'This field may not be blank.')
    .max(max, `Ensure this field has no more than ${max} characters.`)
    .regex(withoutNul, 'Null characters are not allowed.');

/** A text that may be empty. */
export const optionalText = (max = 10_000) =>
  z
    .string({ error: says('Not a valid string.') })
    .max(max, `Ensure this field has no more than ${max} characters.`)
    .regex(withoutNul, 'Null characters are not allowed.');

/**
 * A field with one schema for JSON and one for text, because forms and queries have only text. Lenient JSON accepts
 * both.
 */
const either = <T>(json: z.ZodType<T>, text: z.ZodType<T>, wrong: string, description?: string): z.ZodType<T> =>
  dependent(({ strict, isText }) => {
    const both = strict ? (isText ? text : json) : z.union([json, text], { error: says(wrong) });
    return description === undefined ? both : both.describe(description);
  });

/** A whole number; forms and queries send it as digits. */
export const integer = ({ min = -maxInteger, max = maxInteger }: { min?: number; max?: number } = {}) => {
  const error = says('A valid integer is required.');
  const bounds = `Ensure this value is between ${min} and ${max}.`;
  const number = z.int({ error }).min(min, bounds).max(max, bounds);
  const digits = z
    .string({ error })
    .regex(/^-?\d{1,15}$/, { error, abort: true })
    .transform(Number);
  return either(
    number,
    digits.refine((value) => value >= min && value <= max, bounds),
    'A valid integer is required.',
  );
};

/** One of the given whole numbers. */
export const choice = <const T extends readonly number[]>(values: T, description?: string) => {
  const wrong = `Not a valid choice. Send one of: ${values.join(', ')}.`;
  const error = says(wrong);
  const words = z.enum(values.map(String) as [string, ...string[]], { error });
  const number = z.literal(values, { error }) as unknown as z.ZodType<T[number]>;
  return either<T[number]>(
    number,
    words.transform((value) => Number(value) as T[number]),
    wrong,
    description,
  );
};

const booleanError = says('Must be a valid boolean.');
const words = z.enum(['true', 'false'], { error: booleanError });
const looseWords = z.enum(['true', 'false', 'True', 'False', '1', '0'], { error: booleanError });
const truth = (word: string): boolean => /^(true|1)$/i.test(word);

export const boolean = (): z.ZodType<boolean> =>
  dependent(({ strict }) =>
    either(
      z.boolean({ error: booleanError }),
      (strict ? words : looseWords).transform(truth),
      'Must be a valid boolean.',
    ),
  );

/** A flag of a query, which is set if it is present with any value. */
export const flag = (description: string) => z.string().optional().describe(`Flag, without a value: ${description}`);

/** The range of a decimal. */
type Range = 'any' | 'notZero' | 'zeroOrMore' | 'aboveZero';
const outOfRange = {
  any: '',
  notZero: 'The amount may not be zero.',
  zeroOrMore: 'It must be at least 0.',
  aboveZero: 'It must be greater than 0.',
};
const strictSigns = { any: '-?', notZero: '(?=.*[1-9])-?', zeroOrMore: '', aboveZero: '(?=.*[1-9])' };

/**
 * Also accepts an empty text as null, because forms and queries have no other null. Strict JSON and strict queries do
 * not accept it.
 */
export const blankable = <T>(schema: z.ZodType<T>): z.ZodType<T | null> =>
  dependent(({ strict }) =>
    strict ? schema : z.preprocess((given) => (given === '' ? null : given), schema.nullable()),
  );

/**
 * A decimal with at most `places` decimals, sent as text or as a number. The handler gets a text with exactly that many
 * decimals.
 */
export const decimal = (places: number, range: Range = 'any'): z.ZodType<Amount> =>
  dependent(({ strict }) => {
    const wrong = 'A valid number is required.';
    const text = strict
      ? new RegExp(`^${strictSigns[range]}[0-9]{1,15}(\\.[0-9]{1,${places}})?$`)
      : /^[+-]?[0-9]{1,15}(\.[0-9]{1,12})?$/;
    const least = {
      any: {},
      notZero: { not: { const: 0 } },
      zeroOrMore: { minimum: 0 },
      aboveZero: { exclusiveMinimum: 0 },
    }[range];
    const number = z
      .number({ error: says(wrong) })
      .min(-maxInteger)
      .max(maxInteger);
    return z
      .union([z.string().regex(text, wrong), number.meta(strict ? { ...least, multipleOf: 10 ** -places } : {})], {
        error: says(wrong),
      })
      .transform(String)
      .refine((value) => /^[+-]?\d{1,15}(\.\d+)?$/.test(value), { error: wrong, abort: true })
      .refine((value) => (value.split('.')[1] ?? '').replace(/0+$/, '').length <= places, {
        error: `Ensure that there are no more than ${places} decimal places.`,
        abort: true,
      })
      .refine((value) => isIn(range, dec(value)), outOfRange[range])
      .transform((value) => fixed(dec(value), places));
  });

const isIn = (range: Range, value: Decimal): boolean => {
  if (range === 'notZero') return !value.isZero();
  return range === 'any' || value.greaterThan(0) || (range === 'zeroOrMore' && value.isZero());
};

/** An amount in the clinic's currency. */
export const money = (range: Range = 'any'): z.ZodType<Amount> => dependent(({ decimals }) => decimal(decimals, range));

/** A calendar date `YYYY-MM-DD` in an accepted year. */
export const date = () =>
  z
    .string({ error: says('Date has wrong format. Send YYYY-MM-DD.') })
    .regex(/^(19|20|21)\d{2}-\d{2}-\d{2}$/, { error: 'Date has wrong format. Send YYYY-MM-DD.', abort: true })
    .refine(isDate, 'Date has wrong format. Send YYYY-MM-DD.')
    .meta({ format: 'date' });

/**
 * A timestamp with or without an offset. The handler reads it with `instant(request, ...)`, which knows the clinic's
 * time zone.
 */
export const timestamp = (): z.ZodType<string> => {
  const wrong = 'Datetime has wrong format. Send YYYY-MM-DDThh:mm:ss, with or without an offset or Z.';
  return dependent(({ strict }) =>
    z
      .string({ error: says(wrong) })
      .regex(strict ? strictTimePattern : timePattern, wrong)
      .meta(strict ? { format: 'date-time' } : {}),
  );
};

/** An answer with exactly these fields. */
export const answer = z.strictObject;

/** A url-reference in an answer. */
export const url = () => z.string().regex(/^https?:\/\/\S+\/\d+\/(\?\S*)?$/);
export const time = () => z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})?$/);
/** A date; some installations send it as a timestamp of local midnight. */
export const day = () => z.string().regex(/^\d{4}-\d{2}-\d{2}(T\S+)?$/);
/** A decimal in an answer. The resource and the installation decide whether it is text or a number. */
export const amount = () => z.union([amountText(), z.number()]);
export const amountText = () => z.string().regex(/^-?\d+(\.\d+)?$/);
export const id = () => z.int().min(0);
