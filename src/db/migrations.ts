import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * What a migration does to programs that do not know it.
 *
 * - `expand` adds: a program of an older version works on with it. Every migration without a mark is one.
 * - `optional` is an expansion that the program which brings it can do without, such as an index.
 * - `contract` takes away what older versions use. The program which brings it works with and without it, so it is applied when
 *   nobody needs the older version any more.
 */
export type MigrationKind = 'expand' | 'optional' | 'contract';

export interface Migration {
  name: string;
  kind: MigrationKind;
  sql: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** The migrations that this version knows, in the order in which they were written. */
export function knownMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => migration(basename(name, '.sql'), readFileSync(new URL(name, folder), 'utf8')));
}

export function migration(name: string, sql: string): Migration {
  return { name, kind: kindOf(sql), sql };
}

/** Told by the first line: `-- Contract: why`, `-- Optional: why`; anything else is an expansion. */
function kindOf(sql: string): MigrationKind {
  if (sql.startsWith('-- Contract: ')) return 'contract';
  return sql.startsWith('-- Optional: ') ? 'optional' : 'expand';
}

export function migrationNames(): string[] {
  return knownMigrations().map(({ name }) => name);
}

/** A migration as the database has it. */
export interface Applied {
  name: string;
  /** Null where the program that applied it did not note kinds yet. */
  kind: string | null;
}

/** The migrations to apply, in order: expansions first, since none may depend on a contraction. */
export function pendingMigrations(known: Migration[], applied: Applied[], contract: boolean): Migration[] {
  const names = new Set(applied.map(({ name }) => name));
  const pending = known.filter(({ name }) => !names.has(name));
  return [
    ...pending.filter(({ kind }) => kind !== 'contract'),
    ...pending.filter(({ kind }) => kind === 'contract' && contract),
  ];
}

/** The migrations that a newer version applied: those that this one works with, and those that it does not. */
export function unknownMigrations(known: Migration[], applied: Applied[]): { harmless: string[]; breaking: string[] } {
  const names = new Set(known.map(({ name }) => name));
  const unknown = applied.filter(({ name }) => !names.has(name));
  const isHarmless = ({ kind }: Applied) => kind === 'expand' || kind === 'optional';
  return {
    harmless: unknown.filter(isHarmless).map(({ name }) => name),
    breaking: unknown.filter((each) => !isHarmless(each)).map(({ name }) => name),
  };
}

/** The migrations without which this version does not work. */
export function missingMigrations(known: Migration[], applied: Applied[]): string[] {
  return pendingMigrations(known, applied, false)
    .filter(({ kind }) => kind === 'expand')
    .map(({ name }) => name);
}
