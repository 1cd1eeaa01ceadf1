// `<field>__<operator>` query parameters. Like the service, ignores filters that a resource does not declare.
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import { ValidationProblem } from '../records.ts';
import { isDate, type Zone } from '../zone.ts';
import { withoutNul } from './fields.ts';

type Operator = 'is' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'icontains' | 'is_null';
type Kind = 'integer' | 'boolean' | 'date' | 'time' | 'text';
type Value = number | string | boolean | null;

export interface FilterField<T> {
  kind: Kind;
  operators: readonly Operator[];
  /** What the filter compares. Of several values, one has to match. */
  value: (record: T, clinic: Clinic) => Value | readonly Value[];
}

export type FilterFields<T> = Record<string, FilterField<T>>;

export interface AppliedFilter<T> {
  name: string;
  field: string;
  operator: Operator;
  operand: Value | Value[];
  matches: (record: T) => boolean;
}

const patterns: Record<Kind, RegExp> = {
  integer: /^(https?:\/\/.*\/)?-?\d{1,15}\/?$/,
  boolean: /^(true|false|True|False|1|0)$/,
  date: /^\d{4}-\d{2}-\d{2}(\S*)$/,
  time: /^\d{4}-\d{2}-\d{2}(\S*)$/,
  text: withoutNul,
};

const messages: Record<Kind, string> = {
  integer: 'Enter a number.',
  boolean: 'Must be a valid boolean.',
  date: 'Enter a valid date.',
  time: 'Enter a valid date/time.',
  text: 'Null characters are not allowed.',
};

/** The schemas of the declared filters. An empty value is no filter. */
export const filterQuery = <T>(fields: FilterFields<T>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { kind, operators }]) =>
      operators.map((operator) => [`${name}__${operator}`, schemaOf(kind, operator).optional()]),
    ),
  );

const schemaOf = (kind: Kind, operator: Operator): z.ZodType => {
  const one = patterns[operator === 'is_null' ? 'boolean' : kind].source.replace(/^\^|\$$/g, '');
  const pattern = new RegExp(operator === 'in' ? `^((${one})(,(${one}))*)?$` : `^(${one})?$`);
  return z.string().regex(pattern, messages[operator === 'is_null' ? 'boolean' : kind]);
};

/** The filters of a query that the resource declares and no quirk ignores. Throws ValidationProblem for a refused one. */
export const parseFilters = <T>(
  query: URLSearchParams,
  fields: FilterFields<T>,
  options: { ignored: readonly string[]; refused: readonly string[]; clinic: Clinic },
): AppliedFilter<T>[] => {
  const applied: AppliedFilter<T>[] = [];
  const { clinic } = options;
  for (const [name, text] of query) {
    if (options.refused.includes(name)) throw new ValidationProblem(name, 'This filter is not supported.');
    const split = name.lastIndexOf('__');
    const field = name.slice(0, split);
    const operator = name.slice(split + 2) as Operator;
    const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (split < 1 || !known?.operators.includes(operator) || options.ignored.includes(name) || text === '') continue;
    if (operator === 'is_null') {
      const operand = parseValue(name, text, 'boolean', clinic.zone);
      const matches = (record: T) => (known.value(record, clinic) === null) === operand;
      applied.push({ name, field, operator, operand, matches });
      continue;
    }
    const read = (part: string): Value => parseValue(name, part.trim(), known.kind, clinic.zone);
    const operand = operator === 'in' ? text.split(',').map(read) : read(text);
    applied.push({ name, field, operator, operand, matches: matcher(known, operator, operand, clinic) });
  }
  return applied;
};

const parseValue = (name: string, text: string, kind: Kind, zone: Zone): Value => {
  switch (kind) {
    case 'integer': {
      // A url-reference is accepted for the id at its end.
      const digits = /^(?:https?:\/\/.*\/)?(-?\d{1,15})\/?$/.exec(text)?.[1];
      if (digits === undefined) throw new ValidationProblem(name, messages[kind]);
      return Number(digits);
    }
    case 'boolean':
      if (/^(true|1)$/i.test(text)) return true;
      if (/^(false|0)$/i.test(text)) return false;
      throw new ValidationProblem(name, messages[kind]);
    case 'date': {
      if (isDate(text)) return text;
      const instant = zone.parse(text);
      if (instant === null) throw new ValidationProblem(name, messages[kind]);
      return zone.date(instant);
    }
    case 'time': {
      const instant = zone.parse(text);
      if (instant === null) throw new ValidationProblem(name, messages[kind]);
      return instant;
    }
    case 'text':
      return text;
  }
};

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
