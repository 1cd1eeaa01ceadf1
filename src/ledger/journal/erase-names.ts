import { text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';

/**
 * Deletes a party's names from the entries of an installation. No hash covers them. Returns the names, one per entry.
 */
export async function eraseNames(trx: Connection, installation: number, partyCode: string): Promise<string[]> {
  const erased = await rows(
    trx,
    { name: text },
    'delete from entry_party_name where installation = ? and party_code = ? returning name',
    [installation, partyCode],
  );
  return erased.map(({ name }) => name);
}
