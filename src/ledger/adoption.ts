import { bool, text } from '../db/columns.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { booksErrors } from '../texts/errors/books.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** What belongs to the original of a copy of these books, so that the copy never writes there (table `copy_bar`). */

/** `restored`: the original is gone, and this database takes its place. `copy`: the original goes on, and this is for trying things. */
export type AdoptionMode = 'restored' | 'copy';

/** A company of an ERP, by its key, or a practice API, by its origin. */
export interface Bar {
  kind: 'company' | 'source';
  key: string;
}

/** Bars this copy from everything that the books were delivered to and read from. */
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

/** Whether this database is a copy that may not write there. */
export async function isBarred(db: Connection, { kind, key }: Bar): Promise<boolean> {
  const sql = 'select exists (select from copy_bar where kind = ? and key = ?) as barred';
  return (await row(db, { barred: bool }, sql, [kind, key])).barred;
}

/** Why a copy delivers nothing to the company that its configuration names. */
export function barredError(installation: number): PlainError {
  return booksErrors.copyBarred({ installation });
}

/** The practice API of an address, as a bar names it. */
export function sourceBar(baseUrl: string): Bar {
  return { kind: 'source', key: new URL(baseUrl).origin };
}
