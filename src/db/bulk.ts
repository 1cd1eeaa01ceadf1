import { type Binding, type Connection, execute } from './rows.ts';

/** A column's value in a row to insert. A list becomes a PostgreSQL array. */
type Value = string | number | boolean | null | readonly (number | string)[];

/** Column names and their PostgreSQL types, in the order of the statement. An array type ends with `[]`. */
export type ColumnTypes<Row> = Record<keyof Row & string, string>;

/**
 * Passes many rows as one array parameter per column. `from` is a table expression named `alias`, for `from` and
 * `join`; `bindings` are its parameters. PostgreSQL reads arrays twice as fast as the same rows in JSON.
 */
export function rowsAsArrays<Row extends Record<keyof Row, Value>>(
  alias: string,
  types: ColumnTypes<Row>,
  rows: readonly Row[],
): { from: string; bindings: Binding[] } {
  const columns = Object.entries<string>(types) as [keyof Row & string, string][];
  const names = columns.map(([name]) => name).join(', ');
  // PostgreSQL has no arrays of arrays of different lengths. Each list is sent as the text of an array, and cast to an
  // array.
  const selected = columns.map(([name, type]) => (isList(type) ? `${name}::${type}` : name)).join(', ');
  const unnested = columns.map(([, type]) => `?::${isList(type) ? 'text' : type}[]`).join(', ');
  const unnest = `unnest(${unnested}) as ${alias}(${names})`;
  const from = columns.some(([, type]) => isList(type)) ? `(select ${selected} from ${unnest}) as ${alias}` : unnest;
  return {
    from,
    bindings: columns.map(([name, type]) =>
      arrayText(isList(type) ? rows.map((row) => listText(row[name])) : rows.map((row) => row[name])),
    ),
  };
}

/** Inserts rows in one statement; runs none if there are no rows. `types` names the columns. */
export async function insertRows<Row extends Record<keyof Row, Value>>(
  db: Connection,
  table: string,
  types: ColumnTypes<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const { sql, bindings } = insertion(table, types, rows);
  await execute(db, sql, bindings);
}

/** The statement of `insertRows`, for use inside a `with`. */
export function insertion<Row extends Record<keyof Row, Value>>(
  table: string,
  types: ColumnTypes<Row>,
  rows: readonly Row[],
): { sql: string; bindings: Binding[] } {
  const { from, bindings } = rowsAsArrays('new_row', types, rows);
  const names = Object.keys(types).join(', ');
  return { sql: `insert into ${table} (${names}) select ${names} from ${from}`, bindings };
}

function isList(type: string): boolean {
  return type.endsWith('[]');
}

function listText(value: Value): Value {
  return Array.isArray(value) ? arrayText(value) : value;
}

/** A one-dimensional array in PostgreSQL's text format. */
function arrayText(values: readonly Value[]): string {
  return `{${values.map(elementText).join(',')}}`;
}

function elementText(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return String(value);
  return /["\\]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}
