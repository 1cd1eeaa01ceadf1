import { type ActedBy, recordAction } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { integer, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { ConfigError } from '../domain/errors.ts';
import type { InstallationId } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** The currency, time zone and source of an installation's entries (table `book_identity`). */
export interface BookIdentity {
  currency: string;
  timezone: string;
  /** Scheme, host and port of `base_url`. */
  source: string;
}

export interface IdentityChange {
  what: keyof BookIdentity;
  old: string;
  new: string;
}

const shape = { currency: text, timezone: text, source: text };

/** The name of each part in the configuration. */
const settingOf = { currency: 'currency', timezone: 'timezone', source: 'base_url' } as const;

export function identityOf({ currency, timezone, baseUrl }: InstallationConfig): BookIdentity {
  return { currency, timezone, source: new URL(baseUrl).origin };
}

/** Two processes have different configurations of an installation. */
export class InstallationDiffers extends Error {
  readonly code: string;
  readonly todo: string;

  constructor({ code, message, todo }: PlainError) {
    super(message);
    this.code = code;
    this.todo = todo;
  }
}

/** An error if this process has another configuration than the process that opened the window; otherwise null. */
export function differentIdentity(installation: InstallationConfig, opened: BookIdentity): InstallationDiffers | null {
  const changes = changesOf(opened, identityOf(installation));
  if (changes.length === 0) return null;
  const differences = changes
    .map((one) => booksErrors.processDifference({ setting: settingOf[one.what], opener: one.old, own: one.new }))
    .join('; ');
  return new InstallationDiffers(booksErrors.installationDiffers({ installation: installation.id, differences }));
}

async function readIdentity(db: Connection, installation: InstallationId): Promise<BookIdentity | null> {
  const sql = 'select currency, timezone, source from book_identity where installation = ?';
  return maybeRow(db, shape, sql, [installation]);
}

/** The differences between the configuration and the books. Empty if there are none, or if nothing was posted yet. */
export async function identityChanges(db: Connection, installation: InstallationConfig): Promise<IdentityChange[]> {
  const noted = await readIdentity(db, installation.id);
  return noted === null ? [] : changesOf(noted, identityOf(installation));
}

function changesOf(noted: BookIdentity, configured: BookIdentity): IdentityChange[] {
  const names = ['currency', 'timezone', 'source'] as const;
  return names
    .filter((what) => noted[what] !== configured[what])
    .map((what) => ({ what, old: noted[what], new: configured[what] }));
}

/** An error if the configuration does not fit the books; otherwise null. */
export async function changedIdentity(db: Connection, installation: InstallationConfig): Promise<PlainError | null> {
  const changes = await identityChanges(db, installation);
  return changes.length === 0 ? null : errorOf(installation, changes);
}

/**
 * Does the same as `changedIdentity` for many installations in one statement. Installations without an error are left
 * out.
 */
export async function changedIdentities(
  db: Connection,
  installations: readonly InstallationConfig[],
): Promise<Map<InstallationId, PlainError>> {
  const found = await rows(
    db,
    { installation: integer, ...shape },
    'select installation, currency, timezone, source from book_identity where installation = any(?)',
    [installations.map(({ id }) => id)],
  );
  const noted = new Map(found.map(({ installation, ...identity }) => [installation, identity]));
  const errors = new Map<InstallationId, PlainError>();
  for (const installation of installations) {
    const identity = noted.get(installation.id);
    const changes = identity === undefined ? [] : changesOf(identity, identityOf(installation));
    if (changes.length > 0) errors.set(installation.id, errorOf(installation, changes));
  }
  return errors;
}

/**
 * Throws ConfigError if the configuration does not fit the books, since their amounts would be shown in a wrong
 * currency or on wrong days.
 */
export async function requireIdentity(db: Connection, installation: InstallationConfig): Promise<void> {
  const error = await changedIdentity(db, installation);
  if (error) throw new ConfigError(error);
}

function errorOf({ id }: InstallationConfig, changes: readonly IdentityChange[]): PlainError {
  const differences = changes
    .map((one) => booksErrors.identityDifference({ setting: settingOf[one.what], configured: one.new, books: one.old }))
    .join('; ');
  const currency = changes.find(({ what }) => what === 'currency');
  if (currency === undefined) return booksErrors.identityChanged({ installation: id, differences });
  return booksErrors.currencyChanged({ installation: id, differences, old: currency.old, new: currency.new });
}

async function noteIdentity(db: Connection, installation: InstallationConfig): Promise<void> {
  const { currency, timezone, source } = identityOf(installation);
  await execute(
    db,
    `insert into book_identity (installation, currency, timezone, source) values (?, ?, ?, ?)
     on conflict (installation) do nothing`,
    [installation.id, currency, timezone, source],
  );
}

/**
 * Locks the identity of the books until the end of a posting transaction, and stores it with the first entry. Throws
 * ConfigError if the configuration does not fit it.
 */
export async function holdIdentity(
  trx: Connection,
  installation: InstallationConfig,
  { posting }: { posting: boolean },
): Promise<void> {
  const held = () =>
    maybeRow(trx, shape, 'select currency, timezone, source from book_identity where installation = ? for share', [
      installation.id,
    ]);
  let noted = await held();
  if (noted === null && posting) {
    await noteIdentity(trx, installation);
    noted = await held();
  }
  const changes = noted === null ? [] : changesOf(noted, identityOf(installation));
  if (changes.length === 0) return;
  const { code, message, todo } = errorOf(installation, changes);
  throw new ConfigError({ code, message, todo });
}

/**
 * Changes the identity of the books to the configuration, and records who decided it and why. Returns the changes.
 * Throws ConfigError if the currency changed.
 */
export async function adoptIdentity(db: Db, installation: InstallationConfig, by: ActedBy): Promise<IdentityChange[]> {
  return db.transaction(async (trx) => {
    // Waits for running postings, and blocks other adoptions.
    const locked = 'select currency, timezone, source from book_identity where installation = ? for update';
    const noted = await maybeRow(trx, shape, locked, [installation.id]);
    const configured = identityOf(installation);
    const changes = noted === null ? [] : changesOf(noted, configured);
    requireAdoptable(installation, changes);
    if (changes.length === 0) return changes;
    await recordAction(trx, { installation: installation.id, kind: 'adopt_identity', by, input: { changes } });
    await execute(trx, `update book_identity set timezone = ?, source = ? where installation = ?`, [
      configured.timezone,
      configured.source,
      installation.id,
    ]);
    return changes;
  });
}

/** Throws ConfigError if the currency changed, because the amounts of the entries are in the old currency. */
export function requireAdoptable(installation: InstallationConfig, changes: readonly IdentityChange[]): void {
  if (!changes.some(({ what }) => what === 'currency')) return;
  const { message, todo } = errorOf(installation, changes);
  throw new ConfigError({ code: 'currency_not_adoptable', message, todo });
}
