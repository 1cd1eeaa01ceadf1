// Domains: conditions that select records in a search.

import type { Env } from './env.ts';
import { valueError } from './errors.ts';
import type { Field } from './schema.ts';
import type { Json, Row } from './store.ts';

const operators = new Set([
  ...['=', '!=', '<', '>', '<=', '>=', 'in', 'not in', 'like', 'ilike', 'not like', 'not ilike', '=like', '=ilike'],
  ...['child_of', 'parent_of'],
]);
const negated: Record<string, string> = {
  '!=': '=',
  'not in': 'in',
  'not like': 'like',
  'not ilike': 'ilike',
};

type Test = (row: Row) => boolean;

/** Compiles a domain to a test of a model's rows. Throws like Odoo for an unknown field or operator. */
export function testOf(env: Env, model: string, domain: Json): Test {
  const terms = Array.isArray(domain) ? [...domain] : [];
  const tests: Test[] = [];
  while (terms.length > 0) tests.push(nextTest(env, model, terms));
  return (row) => tests.every((test) => test(row));
}

function nextTest(env: Env, model: string, terms: Json[]): Test {
  const term = terms.shift();
  if (term === undefined) throw valueError('Domain is malformed');
  if (term === '!') {
    const one = nextTest(env, model, terms);
    return (row) => !one(row);
  }
  if (term === '&' || term === '|') {
    const one = nextTest(env, model, terms);
    const other = nextTest(env, model, terms);
    return term === '&' ? (row) => one(row) && other(row) : (row) => one(row) || other(row);
  }
  if (!Array.isArray(term) || term.length !== 3) throw valueError(`Invalid leaf ${python(term)}`);
  const [path, operator, value] = term as [string | number, string, Json];
  // Constant leaves: (1, '=', 1) and (0, '=', 1)
  if (typeof path === 'number') return () => path === value;
  return leafTest(env, model, path, operator, value);
}

function leafTest(env: Env, model: string, path: string, operator: string, value: Json): Test {
  const [name = '', ...rest] = path.split('.');
  const field = env.modelOf(model).fields.get(name);
  const told = `('${path}', '${operator}', ${python(value)})`;
  if (field === undefined) {
    throw valueError(`Invalid field ${model}.${name} in ${env.version === 19 ? 'condition' : 'leaf'} ${told}`);
  }
  if (!operators.has(operator)) {
    throw valueError(env.version === 19 ? `Invalid operator in condition ${told}` : `Invalid leaf ${told}`);
  }
  if (rest.length > 0 && field.relation !== null) {
    const inner = leafTest(env, field.relation, rest.join('.'), operator, value);
    return (row) => env.related(model, row, field).some(inner);
  }
  if (operator === 'child_of' || operator === 'parent_of') {
    return (row) => hierarchyHas(env, field, model, row, operator, value);
  }
  const positive = negated[operator] ?? operator;
  const isIn = (row: Row) => valuesOf(env, model, row, field).some((held) => isHeld(env, field, held, positive, value));
  return positive === operator ? isIn : (row) => !isIn(row);
}

/** The values that a leaf compares: each record of a relation, or `false` if there is none. */
function valuesOf(env: Env, model: string, row: Row, field: Field): Json[] {
  const value = env.value(model, row, field.name);
  if (field.type === 'one2many' || field.type === 'many2many') {
    const ids = value as number[];
    return ids.length === 0 ? [false] : ids;
  }
  return [value];
}

function isHeld(env: Env, field: Field, held: Json, operator: string, value: Json): boolean {
  if (operator === 'in') {
    return (Array.isArray(value) ? value : [value]).some((one) => isHeld(env, field, held, '=', one));
  }
  if (value === null) return isHeld(env, field, held, operator, false);
  if (operator === '=') {
    if (value === false && field.type !== 'boolean') return held === false;
    if (field.relation !== null && typeof value === 'string') {
      return typeof held === 'number' && env.nameOf(field.relation, held) === value;
    }
    return held === value || (field.type === 'boolean' && Boolean(held) === value);
  }
  if (operator.endsWith('like')) {
    if (held === false || typeof value !== 'string') return false;
    const text = field.relation !== null && typeof held === 'number' ? env.nameOf(field.relation, held) : String(held);
    return likeOf(value, operator).test(text);
  }
  if (held === false || value === false || typeof held !== typeof value) return false;
  const [one, other] = [held as string | number, value as string | number];
  switch (operator) {
    case '<':
      return one < other;
    case '<=':
      return one <= other;
    case '>':
      return one > other;
    default:
      return one >= other;
  }
}

/** `%` and `_` are wildcards; a backslash escapes them. */
function likeOf(pattern: string, operator: string): RegExp {
  const body = pattern.replace(/\\(.)|%|_|[.*+?^${}()|[\]]/gs, (found, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return found === '%' ? '.*' : found === '_' ? '.' : `\\${found}`;
  });
  const isWhole = operator.startsWith('=');
  return new RegExp(isWhole ? `^${body}$` : body, operator.endsWith('ilike') ? 'is' : 's');
}

function hierarchyHas(env: Env, field: Field, model: string, row: Row, operator: string, value: Json): boolean {
  const relation = field.name === 'id' ? model : (field.relation ?? model);
  const wanted = new Set((Array.isArray(value) ? value : [value]) as number[]);
  const parentsOf = (id: number): number[] => {
    const parent = env.store.get(relation, id)?.parent_id;
    return typeof parent === 'number' ? [id, ...parentsOf(parent)] : [id];
  };
  const ids = valuesOf(env, model, row, field).filter((id): id is number => typeof id === 'number');
  if (operator === 'child_of') return ids.some((id) => parentsOf(id).some((parent) => wanted.has(parent)));
  return ids.some((id) => [...wanted].some((one) => parentsOf(one).includes(id)));
}

/** Formats a value like Python, for the texts of errors. */
export function python(value: Json): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (typeof value === 'string') return value.includes("'") ? `"${value}"` : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, one]) => `'${key}': ${python(one)}`)
      .join(', ')}}`;
  }
  return String(value);
}
