import type { z } from 'zod';

/**
 * Declares the columns of a result. The TypeScript type of the rows is inferred from the declaration. The declaration
 * is checked against the types that PostgreSQL reports with the result (src/db/rows.ts).
 */

/** A column of a result: the PostgreSQL types, nulls and values that it accepts. */
export interface Column<T> {
  /** Type OIDs of pg_type; null accepts any type. */
  readonly oids: readonly number[] | null;
  /** The PostgreSQL type for inserting rows. It covers all accepted types. */
  readonly sqlType: string;
  readonly nullable: boolean;
  /** Refuses values that the type allows but the column does not. If undefined, all values are accepted. */
  readonly accepts?: ((value: unknown) => boolean) | undefined;
  /** For stored JSON: its table and column, and its schema. */
  readonly stored?: { readonly place: string; readonly schema: z.ZodType } | undefined;
  /** Used only to infer the type; never set. */
  readonly type?: T;
}

export type Shape = Readonly<Record<string, Column<unknown>>>;

/** The type of a row with this shape. */
export type RowOf<S extends Shape> = { -readonly [Name in keyof S]: S[Name] extends Column<infer T> ? T : never };

function column<T>(sqlType: string, ...oids: number[]): Column<T> {
  return { oids, sqlType, nullable: false };
}

/** bigint, int or smallint as a safe integer (src/db/pool.ts refuses others). */
export const integer = column<number>('bigint', 20, 21, 23);
/** double precision, for seconds and shares. Amounts never have this type. */
export const float = column<number>('double precision', 701);
/** text, varchar or name. */
export const text = column<string>('text', 25, 1043, 19);
export const uuid = column<string>('uuid', 2950);
export const bool = column<boolean>('boolean', 16);
/** Amounts and rates, as text so that no digit is lost. */
export const numeric = column<string>('numeric', 1700);
/** A calendar date, `YYYY-MM-DD`. */
export const date = column<string>('date', 1082);
export const instant = column<Date>('timestamptz', 1184);
/** json and jsonb, as text. Where digits matter, src/records/json.ts parses it. */
export const json = column<string>('json', 114, 3802);
export const integers = column<number[]>('bigint[]', 1016);
/** A list of texts whose elements may be null. */
export const integersOrNulls = column<(number | null)[]>('bigint[]', 1016);
export const texts = column<string[]>('text[]', 1009);
export const numerics = column<string[]>('numeric[]', 1231);

/**
 * JSON that vetledger stored itself, also in text columns. It is parsed and checked; `place` is its `table.column`. A
 * damaged value throws DamagedRow (src/db/rows.ts).
 */
export function storedJson<T>(place: string, schema: z.ZodType<T>): Column<T> {
  const oids = [json, text].flatMap((column) => column.oids ?? []);
  return { oids, sqlType: json.sqlType, nullable: false, stored: { place, schema } };
}

/** Makes a column that accepts the same values, and null. */
export function nullable<T>(of: Column<T>): Column<T | null> {
  return { oids: of.oids, sqlType: of.sqlType, nullable: true, accepts: of.accepts, stored: of.stored };
}

/** A text column that holds one of these words (an enumeration of src/terms.ts). */
export function oneOf<const Word extends string>(words: readonly Word[]): Column<Word> {
  const known = new Set<unknown>(words);
  return { oids: text.oids, sqlType: text.sqlType, nullable: false, accepts: (value) => known.has(value) };
}

export function manyOf<const Word extends string>(words: readonly Word[]): Column<Word[]> {
  const { accepts } = oneOf(words);
  const all = (value: unknown) => Array.isArray(value) && value.every((each) => accepts?.(each));
  return { oids: texts.oids, sqlType: texts.sqlType, nullable: false, accepts: all };
}

/** The columns of a shape as in a statement: `id, kind, n`. */
export function columnList(shape: Shape): string {
  return Object.keys(shape).join(', ');
}

/** The PostgreSQL type of each column, for `insertRows` and `rowsAsArrays` (src/db/bulk.ts). */
export function columnTypes<S extends Shape>(shape: S): Record<keyof S & string, string> {
  const types = Object.entries(shape).map(([name, { sqlType }]) => [name, sqlType]);
  return Object.fromEntries(types) as Record<keyof S & string, string>;
}
