import { bool, integer, nullable, text, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { FindOwnEchoes } from '../mirror/types.ts';
import type { Dialect } from '../records/dialect.ts';
import type { DocumentKind, InstallationId } from '../terms.ts';
import { isEchoOf } from './plan.ts';

/** Which of some documents' new versions are only the echo of what we wrote back (the mirror's port). */
export function ownEchoes(db: Connection, installation: InstallationId, dialect: Dialect): FindOwnEchoes {
  return async (versions, kind) => {
    const isToldNothing = kind !== 'prepayment' && !dialect.external_info.kinds.includes(kind);
    if (isToldNothing) return new Set();
    const ids = versions.map(({ id }) => id);
    const entryIds = kind === 'prepayment' ? await writtenEntries(db, installation, ids) : new Map<number, string>();
    const numbers = await writtenNumbers(db, installation, kind, ids);
    const echoes = versions.filter(({ id, previousRaw, raw }) => {
      const [entryId, written] = [entryIds.get(id), numbers.get(id)];
      if (entryId === undefined && written === undefined) return false;
      const isWritten = (value: string | null) =>
        value === null ? (written?.has(null) ?? false) : value === entryId || (written?.has(value) ?? false);
      return isEchoOf({ kind, previousRaw, newRaw: raw }, isWritten, dialect);
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

/** By document, the ERP's numbers that were or are being written back, and what was put back in their place; null: nothing. */
async function writtenNumbers(
  db: Connection,
  installation: InstallationId,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<Map<number, Set<string | null>>> {
  const written = await rows(
    db,
    { id: integer, ownValues: texts, restores: bool, value: nullable(text) },
    `select document_id as id, own_values as "ownValues", restores, value from erp_number_write_back
     where installation = ? and kind = ? and document_id = any(?)`,
    [installation, kind, ids],
  );
  return new Map(
    written.map(({ id, ownValues, restores, value }) => [
      id,
      new Set<string | null>(restores ? [...ownValues, value] : ownValues),
    ]),
  );
}
