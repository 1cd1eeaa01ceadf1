import { text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { clip, postgresText, visible } from '../domain/text.ts';
import type { InstallationId } from '../terms.ts';

/** This file stores the ERP's names of accounts (table `erp_account_name`). */

const longestName = 200;

/** Stores names by account. Names of other accounts stay. */
export async function storeErpAccountNames(
  db: Connection,
  installation: InstallationId,
  names: ReadonlyMap<string, string>,
): Promise<void> {
  await execute(
    db,
    `insert into erp_account_name (installation, account, name)
     select ?, account, name from unnest(?::text[], ?::text[]) as t (account, name)
     on conflict (installation, account) do update set name = excluded.name`,
    [
      installation,
      [...names.keys()],
      [...names.values()].map((name) => postgresText(visible(clip(name, longestName)))),
    ],
  );
}

/** The stored names by account. */
export async function erpAccountNames(db: Connection, installation: InstallationId): Promise<Map<string, string>> {
  const found = await rows(
    db,
    { account: text, name: text },
    'select account, name from erp_account_name where installation = ?',
    [installation],
  );
  return new Map(found.map(({ account, name }) => [account, name]));
}
