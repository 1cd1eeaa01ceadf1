import { integer, nullable, text, texts } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { FindOwnEchoes } from '../mirror/types.ts';
import type { Dialect } from '../records/dialect.ts';
import type { InstallationId, SourceKind } from '../terms.ts';
import { isEchoOf } from './plan.ts';

/** Finds the new versions that differ from their predecessors only by our write-back (FindOwnEchoes of the mirror). */
export function ownEchoes(db: Connection, installation: InstallationId, dialect: Dialect): FindOwnEchoes {
  return async (versions, kind) => {
    const isNeverWritten = kind !== 'prepayment' && !dialect.external_info.kinds.includes(kind);
    if (isNeverWritten) return new Set();
    const written = await writtenValues(
      db,
      installation,
      kind,
      versions.map(({ id }) => id),
    );
    const echoes = versions.filter(({ id, previousRaw, raw }) => {
      const values = written.get(id);
      return values?.size ? isEchoOf({ kind, previousRaw, newRaw: raw }, (value) => values.has(value), dialect) : false;
    });
    return new Set(echoes.map(({ id }) => id));
  };
}

/**
 * By document, all values that were or are being written back, and the value that was restored in their place. Null is
 * an empty value.
 */
async function writtenValues(
  db: Connection,
  installation: InstallationId,
  kind: SourceKind,
  ids: readonly number[],
): Promise<Map<number, Set<string | null>>> {
  const written = await rows(
    db,
    { id: integer, ownValues: texts, value: nullable(text) },
    `select document_id as id, own_values as "ownValues", value from write_back
     where installation = ? and kind = ? and document_id = any(?)`,
    [installation, kind, ids],
  );
  return new Map(written.map(({ id, ownValues, value }) => [id, new Set<string | null>([...ownValues, value])]));
}
