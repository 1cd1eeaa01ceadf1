// `<field>__<operator>` query parameters. Like the service, ignores filters that a resource does not declare.
import { ValidationProblem } from './records.ts';
import { isDate, type Zone } from './zone.ts';

type Operator = 'is' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'icontains';
type Kind = 'integer' | 'boolean' | 'date' | 'time' | 'text';
type Value = number | string | boolean | null;

export interface FilterField<T> {
  kind: Kind;
  operators: readonly Operator[];
  value: (record: T) => Value;
}

export type FilterFields<T> = Record<string, FilterField<T>>;

export interface AppliedFilter<T> {
  name: string;
  field: string;
  operator: Operator;
  operand: Value | Value[];
  matches: (record: T) => boolean;
}

/** The filters of a query that the resource declares and no quirk ignores. Throws ValidationProblem for a refused one. */
export const parseFilters = <T>(
  query: URLSearchParams,
  fields: FilterFields<T>,
  options: { ignored: readonly string[]; refused: readonly string[]; zone: Zone },
): AppliedFilter<T>[] => {
  const applied: AppliedFilter<T>[] = [];
  for (const [name, text] of query) {
    if (options.refused.includes(name)) throw new ValidationProblem(name, 'This filter is not supported.');
    const split = name.lastIndexOf('__');
    const field = name.slice(0, split);
    const operator = name.slice(split + 2) as Operator;
    const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (split < 1 || !known?.operators.includes(operator) || options.ignored.includes(name) || text === '') continue;
    const read = (part: string): Value => parseValue(name, part.trim(), known.kind, options.zone);
    const operand = operator === 'in' ? text.split(',').map(read) : read(text);
    applied.push({ name, field, operator, operand, matches: matcher(known.value, operator, operand) });
  }
  return applied;
};

const parseValue = (name: string, text: string, kind: Kind, zone: Zone): Value => {
  switch (kind) {
    case 'integer': {
      // A url-reference is accepted for the id at its end.
      const digits = /^(?:https?:\/\/.*\/)?(-?\d{1,15})\/?$/.exec(text)?.[1];
      if (digits === undefined) throw new ValidationProblem(name, 'Enter a number.');
      return Number(digits);
    }
    case 'boolean':
      if (/^(true|1)$/i.test(text)) return true;
      if (/^(false|0)$/i.test(text)) return false;
      throw new ValidationProblem(name, 'Must be a valid boolean.');
    case 'date': {
      if (isDate(text)) return text;
      const instant = zone.parse(text);
      if (instant === null) throw new ValidationProblem(name, 'Enter a valid date.');
      return zone.date(instant);
    }
    case 'time': {
      const instant = zone.parse(text);
      if (instant === null) throw new ValidationProblem(name, 'Enter a valid date/time.');
      return instant;
    }
    case 'text':
      return text;
  }
};

const matcher = <T>(value: (record: T) => Value, operator: Operator, operand: Value | Value[]) => {
  if (operator === 'in') {
    const wanted = new Set(operand as Value[]);
    return (record: T) => wanted.has(value(record));
  }
  if (operator === 'is') return (record: T) => value(record) === operand;
  if (operator === 'icontains') {
    const wanted = String(operand).toLowerCase();
    return (record: T) =>
      String(value(record) ?? '')
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
  return (record: T) => {
    const other = value(record);
    return other !== null && compare(other as number | string);
  };
};
