import { bool, text } from '../db/columns.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { booksErrors } from '../texts/errors/books.ts';
import type { PlainError } from '../texts/plain-error.ts';

/**
 * `restored`: this database replaces the original, which is gone. `copy`: the original continues, and this copy is for
 * trials.
 */
export type AdoptionMode = 'restored' | 'copy';

/**
 * A company of an ERP (by its key) or a practice API (by its origin) to which a copy of the books must not write (table
 * `copy_bar`).
 */
export interface Bar {
  kind: 'company' | 'source';
  key: string;
}

/** Forbids this copy to write to the companies and practice APIs of the books and of the configuration. */
export async function barOriginals(trx: Connection, configured: readonly Bar[]): Promise<void> {
  const known = await rows(
    trx,
    { kind: text, key: text },
    `select 'company' as kind, company as key from erp_cursor where company <> ''
     union select 'company', company from erp_unit
     union select 'company', company from erp_company_identity
     union select 'source', source from book_identity`,
  );
  for (const { kind, key } of [...known, ...configured]) {
    await execute(trx, 'insert into copy_bar (kind, key) values (?, ?) on conflict do nothing', [kind, key]);
  }
}

/** Whether this database is a copy that must not write to this company or practice API. */
export async function isBarred(db: Connection, { kind, key }: Bar): Promise<boolean> {
  const sql = 'select exists (select from copy_bar where kind = ? and key = ?) as barred';
  return (await row(db, { barred: bool }, sql, [kind, key])).barred;
}

export function barredError(installation: number): PlainError {
  return booksErrors.copyBarred({ installation });
}

/** The bar for the practice API at this address. */
export function sourceBar(baseUrl: string): Bar {
  return { kind: 'source', key: new URL(baseUrl).origin };
}
