// The method `load`: imports rows of texts. A row with a known external id changes its record.

import type { Env, Values } from './env.ts';
import { keyError, OdooError, valueError } from './errors.ts';
import type { Field } from './schema.ts';
import type { Json } from './store.ts';

interface Message {
  rows: { from: number; to: number };
  record: number;
  type: 'error';
  message: string;
  field?: string;
}

/** A cell cannot be read. */
class Unreadable extends Error {
  readonly field: string;
  constructor(message: string, field: string) {
    super(message);
    this.field = field;
  }
}

export interface Loaded {
  ids: number[] | false;
  messages: Message[];
  nextrow: number;
}

export function load(env: Env, model: string, fields: readonly string[], data: readonly string[][]): Loaded {
  const paths = fields.map((field) => field.split('/'));
  for (const [name = ''] of paths) {
    if (name === '.id' || env.modelOf(model).fields.has(name)) continue;
    throw env.version === 17 ? keyError(name) : valueError(`Invalid field name '${name}'`);
  }
  const messages: Message[] = [];
  let ids: number[] = [];
  try {
    env.store.transaction(() => {
      ids = recordsIn(env, model, paths, data).flatMap(({ rows, cells }, record) => {
        try {
          return env.store.transaction(() => loadOne(env, model, cells));
        } catch (error) {
          if (!(error instanceof OdooError || error instanceof Unreadable)) throw error;
          const field = error instanceof Unreadable ? { field: error.field } : {};
          messages.push({ rows, record, type: 'error', message: textOf(error), ...field });
          return [];
        }
      });
      if (messages.length > 0) throw new Unreadable('', '');
    });
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { ids: false, messages, nextrow: 0 };
  }
  return { ids, messages: [], nextrow: 0 };
}

function textOf(error: Error): string {
  if (!(error instanceof OdooError) || error.exception.startsWith('odoo.exceptions.')) return error.message;
  return `Unknown error during import: <class '${error.exception.replace('builtins.', '')}'>: ${error.message}`;
}

/** The cells of a record by path. The cells of its lines are separate lists. */
interface Cells {
  own: [path: string[], text: string][];
  lines: Map<string, Cells[]>;
}

/** A row with cells of a line only is a further line of the record above it. */
function recordsIn(env: Env, model: string, paths: string[][], data: readonly string[][]) {
  const isLine = (path: string[]) =>
    path.length > 1 && env.modelOf(model).fields.get(path[0] ?? '')?.type === 'one2many';
  const records: { rows: { from: number; to: number }; cells: Cells }[] = [];
  for (const [n, row] of data.entries()) {
    const filled = paths.flatMap((path, at) => (isLine(path) ? [] : [[path, row[at] ?? ''] as [string[], string]]));
    const last = records.at(-1);
    let cells = last?.cells;
    if (cells === undefined || filled.some(([, text]) => text !== '')) {
      cells = { own: filled, lines: new Map() };
      records.push({ rows: { from: n, to: n }, cells });
    } else if (last !== undefined) last.rows.to = n;
    const byField = Map.groupBy(
      paths.map((path, at) => ({ path, text: row[at] ?? '' })).filter(({ path }) => isLine(path)),
      ({ path }) => path[0] ?? '',
    );
    for (const [field, its] of byField) {
      if (its.every(({ text }) => text === '')) continue;
      const own = its.map(({ path, text }) => [path.slice(1), text] as [string[], string]);
      cells.lines.set(field, [...(cells.lines.get(field) ?? []), { own, lines: new Map() }]);
    }
  }
  return records;
}

function loadOne(env: Env, model: string, cells: Cells): number {
  const { values, externalId, databaseId } = valuesIn(env, model, cells, []);
  const lineIds: [field: string, at: number, externalId: string][] = [];
  for (const [name, lines] of cells.lines) {
    const field = env.fieldOf(model, name);
    values[name] = lines.flatMap((line, at): Json[] => {
      const read = valuesIn(env, field.relation ?? '', line, [field.label]);
      const known = read.databaseId ?? (read.externalId === null ? null : recordOf(env, read.externalId));
      if (known !== null && env.store.get(field.relation ?? '', known) !== undefined) {
        return [
          [4, known, 0],
          [1, known, read.values],
        ];
      }
      if (read.externalId !== null) lineIds.push([name, at, read.externalId]);
      return [[0, 0, read.values]];
    });
  }
  const known = databaseId ?? (externalId === null ? null : recordOf(env, externalId));
  if (known !== null && env.store.get(model, known) !== undefined) {
    const before = lineIdsOf(env, model, known, lineIds);
    env.write(model, [known], values);
    nameLines(env, model, known, lineIds, before);
    return known;
  }
  const [id = 0] = env.create(model, [values]);
  if (externalId !== null) nameRecord(env, externalId, model, id);
  nameLines(env, model, id, lineIds, new Set());
  return id;
}

/** The ids of the lines that a record already has. */
function lineIdsOf(env: Env, model: string, id: number, named: readonly [string, number, string][]): Set<number> {
  const row = env.store.get(model, id);
  const fields = new Set(named.map(([field]) => field));
  return new Set(row === undefined ? [] : [...fields].flatMap((field) => env.value(model, row, field) as number[]));
}

/** Sets the external ids of new lines, in the order of creation. */
function nameLines(
  env: Env,
  model: string,
  id: number,
  named: readonly [field: string, at: number, externalId: string][],
  before: ReadonlySet<number>,
): void {
  const row = env.store.get(model, id);
  if (row === undefined) return;
  const made = new Map<string, number[]>();
  for (const [field, , externalId] of named) {
    const left = made.get(field) ?? (env.value(model, row, field) as number[]).filter((one) => !before.has(one));
    const line = left.shift();
    made.set(field, left);
    if (line !== undefined) nameRecord(env, externalId, env.fieldOf(model, field).relation ?? '', line);
  }
}

function nameRecord(env: Env, externalId: string, model: string, id: number): void {
  const { module, name } = parts(externalId);
  const known = env.store.rows('ir.model.data').find((row) => row.module === module && row.name === name);
  const values = { module, name, model, res_id: id, noupdate: false };
  if (known === undefined) env.sudo().create('ir.model.data', [values]);
  else env.sudo().update('ir.model.data', known.id, values);
}

function parts(externalId: string): { module: string; name: string } {
  const [first = '', ...rest] = externalId.split('.');
  return rest.length === 0 ? { module: '__import__', name: first } : { module: first, name: rest.join('.') };
}

/** The record with an external id; null if there is none. */
export function recordOf(env: Env, externalId: string): number | null {
  const { module, name } = parts(externalId);
  const row = env.store.rows('ir.model.data').find((one) => one.module === module && one.name === name);
  return row === undefined ? null : (row.res_id as number);
}

function valuesIn(env: Env, model: string, { own }: Cells, labels: string[]) {
  const values: Values = {};
  let externalId: string | null = null;
  let databaseId: number | null = null;
  for (const [path, text] of own) {
    const [name = '', part] = path;
    if (name === 'id') externalId = text === '' ? null : text;
    else if (name === '.id') databaseId = text === '' ? null : Number(text);
    else {
      const field = env.modelOf(model).fields.get(name);
      if (field === undefined) throw valueError(`Invalid field name '${path.join('/')}'`);
      values[name] =
        text === '' ? false : cellValue(env, field, part ?? null, text, [...labels, field.label].join('/'));
    }
  }
  return { values, externalId, databaseId };
}

const yes = new Set(['1', 'true', 'yes', 't', 'y']);
const no = new Set(['', '0', 'false', 'no', 'f', 'n']);

function cellValue(env: Env, field: Field, part: string | null, text: string, label: string): Json {
  switch (field.type) {
    case 'boolean': {
      const word = text.toLowerCase();
      if (yes.has(word) || no.has(word)) return yes.has(word);
      throw new Unreadable(`Unknown value '${text}' for boolean field '${label}'`, label);
    }
    case 'monetary':
    case 'float':
      if (text.trim() === '' || Number.isNaN(Number(text))) {
        throw new Unreadable(`'${text}' does not seem to be a number for field '${label}'`, label);
      }
      return Number(text);
    case 'integer':
      return Number.parseInt(text, 10);
    case 'date':
      if (!/^\d{4}-\d\d-\d\d$/.test(text)) {
        throw new Unreadable(`'${text}' does not seem to be a valid date for field '${label}'`, label);
      }
      return text;
    case 'json':
      return JSON.parse(text) as Json;
    case 'many2one':
      return referTo(env, field, part, text, label);
    case 'many2many':
      return [[6, 0, text.split(',').map((one) => referTo(env, field, part, one, label))]];
    default:
      return text;
  }
}

const kinds: Record<string, string> = { '.id': 'database id', id: 'external id' };

/** Finds a record by its database id, its external id, or its name. */
function referTo(env: Env, field: Field, part: string | null, text: string, label: string): number {
  const relation = field.relation ?? '';
  const found =
    part === '.id'
      ? Number(text)
      : part === 'id'
        ? recordOf(env, text)
        : env.store.rows(relation).find((row) => env.core.displayName(env, relation, row) === text)?.id;
  if (found !== null && found !== undefined && env.store.get(relation, found) !== undefined) return found;
  const kind = part === null ? 'name' : (kinds[part] ?? part);
  throw new Unreadable(env.say("No matching record found for %s '%s' in field '%s'", kind, text, label), label);
}
