import { integer, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { FindOwnEchoes } from '../mirror/types.ts';
import type { Dialect } from '../records/dialect.ts';
import type { InstallationId } from '../terms.ts';
import { isOwnEcho } from './plan.ts';

/** Which of some prepayments' new versions are only the echo of what we wrote back (the mirror's port). */
export function ownEchoes(db: Connection, installation: InstallationId, dialect: Dialect): FindOwnEchoes {
  return async (versions) => {
    const ids = versions.map(({ id }) => id);
    const written = await writtenEntries(db, installation, ids);
    const echoes = versions.filter(({ id, previousRaw, raw }) => {
      const entryId = written.get(id);
      return entryId !== undefined && isOwnEcho(previousRaw, raw, entryId, dialect);
    });
    return new Set(echoes.map(({ id }) => id));
  };
}

/** By prepayment, the entry id that was or is being written back, which is what an echo carries. */
export async function writtenEntries(
  db: Connection,
  installation: InstallationId,
  prepaymentIds: readonly number[],
): Promise<Map<number, string>> {
  const written = await rows(
    db,
    { prepaymentId: integer, entryId: text },
    `select prepayment_id as "prepaymentId", entry_id as "entryId" from write_back
     where installation = ? and prepayment_id = any(?)`,
    [installation, prepaymentIds],
  );
  return new Map(written.map(({ prepaymentId, entryId }) => [prepaymentId, entryId]));
}
