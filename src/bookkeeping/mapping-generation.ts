import type { InstallationConfig } from '../config/load.ts';
import { bool, integer, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import type { InstallationId } from '../terms.ts';

/** Another process works by a newer mapping: this one posts nothing until it has that one, too. */
export class MappingSuperseded extends UserError {
  override readonly name = 'MappingSuperseded';

  constructor({ id, mappingPath }: Pick<InstallationConfig, 'id' | 'mappingPath'>) {
    super(
      'mapping_superseded',
      `The mapping of installation ${id} was changed: another process has begun to post by the new one. This one was started with the old one (${mappingPath}) and posts nothing by it any more.`,
      'Bring the mapping file of this process up to date, and start it again; what it left undone is done by the other.',
      3,
    );
  }
}

/**
 * Holds the installation's mapping in force until the end of a posting transaction: whoever begins with a newer one waits for it.
 * Throws MappingSuperseded where the configured mapping is not the one in force.
 */
export async function holdMapping(trx: Connection, installation: InstallationConfig): Promise<void> {
  const inForce = await maybeRow(
    trx,
    { mapping_hash: text },
    'select mapping_hash from mapping_generation where installation = ? and superseded_at is null for share',
    [installation.id],
  );
  if (inForce !== null && inForce.mapping_hash !== installation.mappingHash) throw new MappingSuperseded(installation);
}

/** The hash of the mapping in force; null before any process has begun with one. */
export async function mappingInForce(db: Connection, installation: InstallationId): Promise<string | null> {
  return (await mappingsInForce(db, [installation])).get(installation) ?? null;
}

/** The hashes of the mappings in force, by installation; none where no process has begun with one. */
export async function mappingsInForce(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, string>> {
  const found = await rows(
    db,
    { installation: integer, mapping_hash: text },
    'select installation, mapping_hash from mapping_generation where installation = any(?) and superseded_at is null',
    [installations],
  );
  return new Map(found.map(({ installation, mapping_hash }) => [installation, mapping_hash]));
}

/** Whether a mapping was in force once, and another one is now. */
export async function isSuperseded(
  db: Connection,
  installation: InstallationId,
  mappingHash: string,
): Promise<boolean> {
  const { superseded } = await row(
    db,
    { superseded: bool },
    `select coalesce(bool_or(mapping_hash = ? and superseded_at is not null), false)
       and not coalesce(bool_or(mapping_hash = ? and superseded_at is null), false) as superseded
     from mapping_generation where installation = ?`,
    [mappingHash, mappingHash, installation],
  );
  return superseded;
}

/** Makes a mapping the one in force: the next generation, where another one was. Waits for postings under way. */
export async function beginMapping(trx: Connection, installation: InstallationId, mappingHash: string): Promise<void> {
  if ((await mappingInForce(trx, installation)) === mappingHash) return;
  await execute(
    trx,
    `update mapping_generation set superseded_at = clock_timestamp() where installation = ? and superseded_at is null`,
    [installation],
  );
  const { generation } = await row(
    trx,
    { generation: integer },
    'select coalesce(max(generation), 0) + 1 as generation from mapping_generation where installation = ?',
    [installation],
  );
  await execute(trx, 'insert into mapping_generation (installation, generation, mapping_hash) values (?, ?, ?)', [
    installation,
    generation,
    mappingHash,
  ]);
}
