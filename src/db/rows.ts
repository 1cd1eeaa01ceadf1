import type { Knex } from 'knex';
import { UserError } from '../domain/errors.ts';
import { databaseErrors } from '../texts/errors/database.ts';
import type { Column, RowOf, Shape } from './columns.ts';
import type { Db } from './pool.ts';

/** A pool, or a transaction of it. */
export type Connection = Db | Knex.Transaction;

/** A parameter for a `?` of a statement. An array becomes one PostgreSQL array. */
export type Binding = string | number | boolean | Date | null | readonly (string | number | boolean | Date | null)[];

/**
 * A result does not match its declared shape. The cause is a defect of the statement or the schema, never a user's data. The
 * message does not contain the statement; the stack leads to it.
 */
export class UnexpectedResult extends Error {
  readonly code = 'unexpected_result';
}

/** Stored JSON that vetledger cannot have written: the row was changed by hand, or the disk is damaged. */
export class DamagedRow extends UserError {
  constructor(place: string, row: string, reason: string) {
    super(databaseErrors.rowDamaged({ place, row, reason }), 1);
  }
}

interface Result {
  rows: Record<string, unknown>[];
  rowCount: number | null;
  fields: { name: string; dataTypeID: number }[];
}

/**
 * Returns the rows of one SQL statement. `shape` declares the result's columns and types. Names and types are checked
 * once per result, nulls and enumerations in every row. Throws UnexpectedResult if they differ.
 */
export async function rows<S extends Shape>(
  db: Connection,
  shape: S,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<RowOf<S>[]> {
  const result = await run(db, sql, bindings);
  checkFields(result, shape);
  checkValues(result.rows, shape);
  readStoredJson(result.rows, shape);
  return result.rows as RowOf<S>[];
}

/** The first row; null if there is none. */
export async function maybeRow<S extends Shape>(
  db: Connection,
  shape: S,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<RowOf<S> | null> {
  return (await rows(db, shape, sql, bindings))[0] ?? null;
}

/**
 * The first row of a statement that always returns one (an aggregate, an `insert … returning`). Throws UnexpectedResult
 * if there is none.
 */
export async function row<S extends Shape>(
  db: Connection,
  shape: S,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<RowOf<S>> {
  const [first] = await rows(db, shape, sql, bindings);
  if (first === undefined) throw new UnexpectedResult('a statement that always returns a row returned none');
  return first;
}

/** Runs a statement for its effect, and returns the number of affected rows. */
export async function execute(db: Connection, sql: string, bindings: readonly Binding[] = []): Promise<number> {
  return (await run(db, sql, bindings)).rowCount ?? 0;
}

async function run(db: Connection, sql: string, bindings: readonly Binding[]): Promise<Result> {
  return (await db.raw(sql, bindings as Knex.RawBinding[])) as Result;
}

function checkFields({ fields }: Result, shape: Shape): void {
  for (const { name, dataTypeID } of fields) {
    const declared = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (declared === undefined) throw new UnexpectedResult(`column ${name} is not declared`);
    if (declared.oids !== null && !declared.oids.includes(dataTypeID))
      throw new UnexpectedResult(`column ${name} has the type with the oid ${dataTypeID}`);
  }
  const declaredCount = Object.keys(shape).length;
  if (fields.length !== declaredCount)
    throw new UnexpectedResult(`the result has ${fields.length} columns, but ${declaredCount} are declared`);
}

function checkValues(found: Record<string, unknown>[], shape: Shape): void {
  for (const [name, { nullable, accepts }] of Object.entries(shape)) {
    if (nullable && accepts === undefined) continue;
    for (const each of found) {
      const value = each[name];
      if (value === null) {
        if (!nullable) throw new UnexpectedResult(`column ${name} is null`);
      } else if (accepts?.(value) === false) {
        throw new UnexpectedResult(`column ${name} holds a value that it does not accept`);
      }
    }
  }
}

function readStoredJson(found: Record<string, unknown>[], shape: Shape): void {
  for (const [name, { stored }] of Object.entries(shape)) {
    if (stored === undefined) continue;
    for (const each of found) {
      if (each[name] !== null) each[name] = readValue(String(each[name]), stored, each);
    }
  }
}

function readValue(
  text: string,
  { place, schema }: NonNullable<Column<unknown>['stored']>,
  row: Record<string, unknown>,
): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedRow(place, nameOf(row), databaseErrors.notJson);
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const why = read.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || databaseErrors.theValue}: ${message}`);
  throw new DamagedRow(place, nameOf(row), why.join('; '));
}

/** Names the row by its numeric columns, which hold nothing personal: ` of the row with installation 4711, id 12`. */
function nameOf(row: Record<string, unknown>): string {
  const numbers = Object.entries(row).filter(([, value]) => typeof value === 'number');
  if (numbers.length === 0) return '';
  return databaseErrors.rowWith({ values: numbers.map(([name, value]) => `${name} ${value}`).join(', ') });
}
