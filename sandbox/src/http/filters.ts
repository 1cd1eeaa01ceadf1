// Filters: `<field>__<operator>` query parameters (practice-api: Conventions 6). Like the service, the sandbox ignores
// filters that a resource does not declare.
// Choices of the sandbox: an empty value is no filter. A date filter uses the date of a timestamp; a timestamp filter
// uses the beginning of a date. Strict mode does none of this.
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import { isDate, type Zone } from '../zone.ts';
import { withoutNul } from './fields.ts';
import { dependent, type Reading } from './forms.ts';
import { idOfReference, type Resource, referencePattern } from './references.ts';

type Operator = 'is' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'icontains' | 'is_null';
type Kind = 'integer' | 'boolean' | 'date' | 'time' | 'text';
type Value = number | string | boolean | null;

export interface FilterField<T> {
  kind: Kind | { record: Resource };
  operators: readonly Operator[];
  /** The value that the filter compares. Of several values, one must match. */
  value: (record: T, clinic: Clinic) => Value | readonly Value[];
}

export type FilterFields<T> = Record<string, FilterField<T>>;

export interface AppliedFilter<T> {
  field: string;
  operator: Operator;
  operand: Value | Value[];
  matches: (record: T) => boolean;
}

/** A kind of value: how its text is read, the message for an invalid text, and its description. */
interface Form {
  read: (text: string) => Value | undefined;
  message: string | ((text: string) => string);
  pattern: string;
  /** The format in strict mode, if it says more than the pattern. */
  format?: 'date' | 'date-time';
}

const digits = '-?\\d{1,15}';
const timePattern = '\\d{4}-\\d{2}-\\d{2}(\\S*)';

const formOf = (kind: FilterField<never>['kind'], { installation, strict, zone }: Reading): Form => {
  if (typeof kind === 'object') {
    const found = (text: string) =>
      /^-?\d{1,15}$/.test(text) ? Number(text) : idOfReference(text, installation, kind.record);
    return {
      read: (text) => (typeof found(text) === 'number' ? found(text) : undefined),
      message: (text) => String(found(text)),
      pattern: `${digits}|${referencePattern(installation, kind.record)}`,
    };
  }
  switch (kind) {
    case 'integer':
      return {
        read: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined),
        message: 'Enter a number.',
        pattern: digits,
      };
    case 'boolean': {
      const words = strict ? 'true|false' : 'true|false|True|False|1|0';
      return {
        read: (text) => (new RegExp(`^(${words})$`).test(text) ? /^(true|1)$/i.test(text) : undefined),
        message: strict ? 'Send true or false.' : 'Must be a valid boolean.',
        pattern: words,
      };
    }
    case 'date':
      return {
        read: (text) => dateOf(text, strict, zone),
        message: 'Enter a valid date.',
        pattern: timePattern,
        format: 'date',
      };
    case 'time': {
      const read = (text: string) => (strict && !/[T ]/.test(text) ? undefined : (zone.parse(text) ?? undefined));
      return { read, message: 'Enter a valid date/time.', pattern: timePattern, format: 'date-time' };
    }
    case 'text':
      return {
        read: (text) => (withoutNul.test(text) ? text : undefined),
        message: 'Null characters are not allowed.',
        pattern: '[^\\u0000]+',
      };
  }
};

const dateOf = (text: string, strict: boolean, zone: Zone): string | undefined => {
  if (isDate(text)) return text;
  const instant = strict ? null : zone.parse(text);
  return instant === null ? undefined : zone.date(instant);
};

/** The schemas of the declared filters. Their outputs are the operands of the comparison. */
export const filterQuery = <T>(fields: FilterFields<T>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { kind, operators }]) =>
      operators.map((operator) => [
        `${name}__${operator}`,
        dependent((reading) => operandOf(formOf(operator === 'is_null' ? 'boolean' : kind, reading), operator, reading))
          .optional()
          .describe(inWords(kind, operator)),
      ]),
    ),
  );

const operatorsInWords: Readonly<Record<Operator, string>> = {
  is: 'Equal to',
  gt: 'Greater than',
  gte: 'From, inclusive',
  lt: 'Less than',
  lte: 'Until, inclusive',
  in: 'One of several, with commas between them',
  icontains: 'Contains, in upper or lower case',
  is_null: 'true: has none, false: has one',
};

const inWords = (kind: FilterField<never>['kind'], operator: Operator): string =>
  `${operatorsInWords[operator]}${typeof kind === 'object' ? ': an id or a url-reference' : ''}`;

const operandOf = (form: Form, operator: Operator, { strict }: Reading): z.ZodType<Value | Value[] | undefined> => {
  const { pattern: one, format } = form;
  const pattern = operator === 'in' ? `(${one})(,(${one}))*` : one;
  const shown =
    strict && format !== undefined && operator !== 'in'
      ? { format }
      : { pattern: strict ? `^(${pattern})$` : `^(${pattern})?$` };
  return z
    .string('Send this parameter once.')
    .meta(shown)
    .transform((text, { addIssue }) => {
      if (text === '' && !strict) return undefined;
      if (text === '') {
        addIssue({ code: 'custom', message: 'Send a value.', input: text });
        return z.NEVER;
      }
      const values: Value[] = [];
      for (const part of operator === 'in' ? text.split(',') : [text]) {
        const value = form.read(operator === 'in' ? part.trim() : part);
        if (value !== undefined) values.push(value);
        else {
          const message = typeof form.message === 'string' ? form.message : form.message(part.trim());
          addIssue({ code: 'custom', message, input: text });
          return z.NEVER;
        }
      }
      return operator === 'in' ? values : values[0];
    });
};

/** The filters in a validated query. */
export const appliedFilters = <T>(
  query: Record<string, unknown>,
  fields: FilterFields<T>,
  clinic: Clinic,
): AppliedFilter<T>[] =>
  Object.entries(fields).flatMap(([field, known]) =>
    known.operators.flatMap((operator) => {
      const operand = query[`${field}__${operator}`] as Value | Value[] | undefined;
      if (operand === undefined) return [];
      const matches =
        operator === 'is_null'
          ? (record: T) => (known.value(record, clinic) === null) === operand
          : matcher(known, operator, operand, clinic);
      return [{ field, operator, operand, matches }];
    }),
  );

const matcher = <T>(
  known: FilterField<T>,
  operator: Exclude<Operator, 'is_null'>,
  operand: Value | Value[],
  clinic: Clinic,
): ((record: T) => boolean) => {
  const compare = comparison(operator, operand);
  return (record) => {
    const value = known.value(record, clinic);
    return Array.isArray(value) ? value.some(compare) : compare(value as Value);
  };
};

const comparison = (operator: Exclude<Operator, 'is_null'>, operand: Value | Value[]): ((value: Value) => boolean) => {
  if (operator === 'in') {
    const wanted = new Set(operand as Value[]);
    return (value) => wanted.has(value);
  }
  if (operator === 'is') return (value) => value === operand;
  if (operator === 'icontains') {
    const wanted = String(operand).toLowerCase();
    return (value) =>
      String(value ?? '')
        .toLowerCase()
        .includes(wanted);
  }
  // As in SQL, every comparison with null is false.
  const bound = operand as number | string;
  const compare = {
    gt: (other: number | string) => other > bound,
    gte: (other: number | string) => other >= bound,
    lt: (other: number | string) => other < bound,
    lte: (other: number | string) => other <= bound,
  }[operator];
  return (value) => value !== null && compare(value as number | string);
};
