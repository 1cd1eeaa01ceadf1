import { z } from 'zod';
import { storedJson, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { type FieldMap, fieldMap, type Kept, wholeRecord } from '../records/field-map.ts';

const keptFields: z.ZodType<Kept> = z.lazy(() =>
  z.union([z.literal(['whole', 'field']), z.record(z.string(), keptFields)]),
);

/** Stores a list of kept fields. It must be stored before records that use it. */
export async function storeFieldMap(trx: Connection, { version, kept }: FieldMap): Promise<void> {
  if (version === wholeRecord.version) return;
  await execute(trx, 'insert into field_map (version, kept) values (?, ?::json) on conflict do nothing', [
    version,
    JSON.stringify(kept),
  ]);
}

/** The lists of kept fields of these versions, by version. */
export async function fieldMaps(db: Connection, versions: readonly string[]): Promise<Map<string, FieldMap>> {
  const maps = new Map<string, FieldMap>();
  if (versions.length === 0) return maps;
  if (versions.includes(wholeRecord.version)) maps.set(wholeRecord.version, wholeRecord);
  const found = await rows(
    db,
    { version: text, kept: storedJson('field_map.kept', keptFields) },
    'select version, kept from field_map where version = any(?)',
    [versions],
  );
  for (const { version, kept } of found) maps.set(version, fieldMap(version, kept));
  for (const version of versions) if (!maps.has(version)) throw new Error(`the mirror lacks the field map ${version}`);
  return maps;
}
