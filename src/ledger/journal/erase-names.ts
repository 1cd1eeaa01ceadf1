import { text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';

/** Removes a party's names from the entries of an installation, which no hash covers; returns how many entries had one. */
export async function eraseNames(trx: Connection, installation: number, partyCode: string): Promise<number> {
  const erased = await rows(
    trx,
    { id: text },
    `delete from entry_party_name n using entry e
     where n.party_code = ? and e.id = n.entry_id and e.installation = ? returning n.entry_id as id`,
    [partyCode, installation],
  );
  return erased.length;
}
