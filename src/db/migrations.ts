import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of `sql` in hex, stored in the database. */
  hash: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** The migrations of this version, in the order of their names, in which they are applied. */
export function knownMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => migration(basename(name, '.sql'), readFileSync(new URL(name, folder), 'utf8')));
}

export function migration(name: string, sql: string): Migration {
  return { name, sql, hash: createHash('sha256').update(sql).digest('hex') };
}

export function migrationNames(): string[] {
  return knownMigrations().map(({ name }) => name);
}
