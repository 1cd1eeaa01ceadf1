// Building blocks of the schemas: what a request may carry, and what an answer carries. The server validates with them, and the
// OpenAPI description is generated from them. Names and messages follow Django REST Framework, as the field notes describe.
import { z } from 'zod';
import { dec, fixed } from '../money.ts';
import { isDate } from '../zone.ts';

/** The largest id, and the largest value of any whole number that a request may carry. */
const maxInteger = 999_999_999_999_999;
/** Years that a clinic can mean; others are typing errors, and some cannot be written in four digits in every zone. */
const timePattern =
  /^(?:19|20|21)\d{2}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?(?:Z|z|[+-]\d{2}:?\d{2})?)?$/;

/** PostgreSQL, and so the service, stores no NUL character in text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character that is refused.
export const withoutNul = /^[^\u0000]*$/;

/** The message for a field that is absent, or for one that holds something else. */
const says = (wrong: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'This field is required.' : wrong;

/** Text that holds something, without NUL characters. */
export const text = (max = 10_000) =>
  z
    .string({ error: says('Not a valid string.') })
    .min(1, 'This field may not be blank.')
    .max(max, `Ensure this field has no more than ${max} characters.`)
    .regex(withoutNul, 'Null characters are not allowed.');

/** Text that may be empty. */
export const optionalText = (max = 10_000) =>
  z
    .string({ error: says('Not a valid string.') })
    .max(max, `Ensure this field has no more than ${max} characters.`)
    .regex(withoutNul, 'Null characters are not allowed.');

/** A whole number, as a number or as digits (forms know only text). */
export const integer = ({ min = -maxInteger, max = maxInteger }: { min?: number; max?: number } = {}) =>
  z
    .union([z.int().min(min).max(max), z.string().regex(/^-?\d{1,15}$/)], {
      error: says('A valid integer is required.'),
    })
    .transform(Number)
    .refine((value) => value >= min && value <= max, `Ensure this value is between ${min} and ${max}.`);

/** One of some whole numbers. */
export const choice = <const T extends readonly number[]>(values: T) =>
  z
    .union([z.literal(values), z.enum(values.map(String) as [string, ...string[]])], {
      error: says('Not a valid choice.'),
    })
    .transform((value) => Number(value) as T[number]);

export const boolean = () =>
  z
    .union([z.boolean(), z.enum(['true', 'false', 'True', 'False', '1', '0'])], {
      error: says('Must be a valid boolean.'),
    })
    .transform((value) => value === true || /^(true|1)$/i.test(String(value)));

/** A decimal with at most `places` decimals, sent as text or as a number; text with exactly that many for the handler. */
export const decimal = (places: number) =>
  z
    .union([z.string().regex(/^[+-]?\d{1,15}(\.\d{1,12})?$/), z.number().min(-1e15).max(1e15)], {
      error: says('A valid number is required.'),
    })
    .transform(String)
    .refine((value) => /^[+-]?\d{1,15}(\.\d+)?$/.test(value), 'A valid number is required.')
    .refine(
      (value) => (value.split('.')[1] ?? '').replace(/0+$/, '').length <= places,
      `Ensure that there are no more than ${places} decimal places.`,
    )
    .transform((value) => fixed(dec(value), places));

/** A calendar date, `YYYY-MM-DD`, of a year that a clinic can mean. */
export const date = () =>
  z
    .string({ error: says('Date has wrong format. Use YYYY-MM-DD.') })
    .refine((text) => isDate(text) && /^(19|20|21)/.test(text), 'Date has wrong format. Use YYYY-MM-DD.')
    .meta({ format: 'date' });

/** A timestamp with or without an offset; the handler reads it with `instant(request, ...)`, which knows the clinic's zone. */
export const timestamp = () =>
  z.string({ error: says('Datetime has wrong format.') }).regex(timePattern, 'Datetime has wrong format.');

/** A reference to a record: its URL, or its id. The id for the handler. */
export const reference = () =>
  z
    .union([z.int().min(0).max(maxInteger), z.string().regex(/(?:^|\/)\d{1,15}\/?(?:\?[^\s]*)?$/)], {
      error: says('Invalid hyperlink - No URL match.'),
    })
    .transform((value) => Number(/(\d{1,15})\/?(?:\?.*)?$/.exec(String(value))?.[1]));

/** Named values whose meaning the clinic does not know. */
export const anyObject = () => z.record(z.string(), z.unknown(), { error: says('Expected a dictionary of items.') });

/** The fields that an answer carries, all of them. */
export const answer = z.strictObject;

/** A url-reference in an answer. */
export const url = () => z.string().regex(/^https?:\/\/\S+\/\d+\/(\?\S*)?$/);
export const time = () => z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})?$/);
/** A date, which some installations send as local midnight with a time. */
export const day = () => z.string().regex(/^\d{4}-\d{2}-\d{2}(T\S+)?$/);
/** A decimal in an answer: text or a number, depending on the resource and on the installation. */
export const amount = () => z.union([z.string().regex(/^-?\d+(\.\d+)?$/), z.number()]);
export const id = () => z.int().min(0);
