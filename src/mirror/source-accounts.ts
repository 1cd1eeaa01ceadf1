import { bool, integer, nullable, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { clip, postgresText } from '../domain/text.ts';
import type { AccountNumber } from '../records/types.ts';

/** This file stores the practice software's list of account numbers, as it was read last (table `source_account`). */

const longestText = 500;

/** Replaces the stored list. */
export async function storeSourceAccounts(
  db: Db,
  installation: number,
  accounts: readonly AccountNumber[],
): Promise<void> {
  const kept = accounts.map(({ number, description, departmentId, archived }) => ({
    number: postgresText(clip(number, longestText)),
    description: description === null ? null : postgresText(clip(description, longestText)),
    department: departmentId,
    archived,
  }));
  await db.transaction(async (trx) => {
    await execute(trx, `select pg_advisory_xact_lock(hashtextextended(?, 0))`, [`vetledger accounts ${installation}`]);
    await execute(trx, 'delete from source_account where installation = ?', [installation]);
    await execute(
      trx,
      `insert into source_account (installation, number, description, department, archived)
       select ?, number, description, department, archived
       from jsonb_to_recordset(?::jsonb) as t (number text, description text, department bigint, archived boolean)`,
      [installation, JSON.stringify(kept)],
    );
  });
}

/** The stored list. Null if no list was read, or the list was empty. */
export async function storedSourceAccounts(db: Connection, installation: number): Promise<AccountNumber[] | null> {
  const found = await rows(
    db,
    { number: text, description: nullable(text), department: nullable(integer), archived: bool },
    'select number, description, department, archived from source_account where installation = ? order by number, department',
    [installation],
  );
  if (found.length === 0) return null;
  return found.map(({ department, ...account }) => ({ ...account, departmentId: department }));
}
