import { type ActedBy, recordAction } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { mappingOf } from '../config/mapping-files.ts';
import { bool, integer, nullable, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import { mappingVersionText } from '../ledger/journal/entry-records.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The mapping in force of an installation is the newest version of it in the database, whatever the files of its processes hold.
 * The first file that a process starts with is version 1. A file with another content is the next version at a start where
 * `mapping.follow_file` is on, otherwise with `vetledger mapping apply`. What was in force once comes back by that command alone.
 */

/** What becomes of the mapping file at a start. */
type FileState = 'in force' | 'next' | 'proposal' | 'earlier';

export interface MappingInForce {
  /** With the mapping in force. */
  installation: InstallationConfig;
  /** Null before the first start: the file's mapping stands for it. */
  number: number | null;
  file: FileState;
}

/** The mapping was changed while a transaction posted by the one before. Nothing of it is posted; a next attempt reads the new one. */
export class MappingSuperseded extends UserError {
  override readonly name = 'MappingSuperseded';

  constructor(installation: InstallationId) {
    super(
      {
        code: 'mapping_superseded',
        message: `The mapping of installation ${installation} was changed meanwhile: nothing is posted by the one before any more.`,
        todo: 'Nothing: a window goes on by the new mapping. Run a command again.',
      },
      3,
    );
  }
}

/** Gives installations the mapping in force, in their order; one statement for any number. */
export async function mappingsInForce(
  db: Connection,
  installations: readonly InstallationConfig[],
  { followFile }: { followFile: boolean },
): Promise<MappingInForce[]> {
  const found = await rows(
    db,
    { number: nullable(integer), hash: nullable(text), content: nullable(text), was_file: bool },
    `select v.number, v.mapping_hash as hash, case when v.mapping_hash <> w.known then v.content end as content,
       exists (select from mapping_version e where e.installation = w.installation and e.mapping_hash = w.file) as was_file
     from unnest(?::bigint[], ?::text[], ?::text[]) with ordinality w (installation, known, file, n)
     left join lateral (
       select number, mapping_hash, content from mapping_version v where v.installation = w.installation
       order by number desc limit 1) v on true
     order by w.n`,
    [
      installations.map(({ id }) => id),
      installations.map(({ mappingHash }) => mappingHash),
      installations.map(({ mappingFile }) => mappingFile.hash),
    ],
  );
  return found.map(({ number, hash, content, was_file }, at) => {
    const known = installations[at] as InstallationConfig;
    const isNext = number === null || (!was_file && followFile);
    return {
      installation: content === null ? known : { ...known, ...mappingOf(content) },
      number,
      file: hash === known.mappingFile.hash ? 'in force' : isNext ? 'next' : was_file ? 'earlier' : 'proposal',
    };
  });
}

/** The installation with the mapping in force by now. */
export async function withMappingInForce(
  db: Connection,
  installation: InstallationConfig,
): Promise<InstallationConfig> {
  const other = await maybeRow(
    db,
    { content: text },
    `select content from mapping_version v where installation = ? and mapping_hash <> ?
       and number = (select max(number) from mapping_version n where n.installation = v.installation)`,
    [installation.id, installation.mappingHash],
  );
  return other === null ? installation : { ...installation, ...mappingOf(other.content) };
}

/** The installation with the mapping of its file. */
export function withMappingOfFile(installation: InstallationConfig): InstallationConfig {
  return { ...installation, ...mappingOf(installation.mappingFile.content) };
}

/** As `mappingsInForce`, of a process that starts: files that are next become the version in force. */
export async function followMappingFiles(
  db: Db,
  installations: readonly InstallationConfig[],
  following: { followFile: boolean },
): Promise<MappingInForce[]> {
  const found = await mappingsInForce(db, installations, following);
  for (const { installation, file } of found) {
    if (file !== 'next') continue;
    await db.transaction(async (trx) => {
      await lockMapping(trx, installation.id, 'alone');
      const [now] = await mappingsInForce(trx, [installation], following);
      if (now?.file === 'next') await beginVersion(trx, installation.id, installation.mappingFile.content, null);
    });
  }
  return mappingsInForce(db, installations, following);
}

/** Makes a mapping the one in force because a person says so; false where it is in force already. Waits for postings under way. */
export async function applyMapping(
  db: Db,
  { id, mappingFile }: Pick<InstallationConfig, 'id' | 'mappingFile'>,
  by: ActedBy,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    await lockMapping(trx, id, 'alone');
    if ((await newestHash(trx, id)) === mappingFile.hash) return false;
    const input = { mapping_hash: mappingFile.hash };
    const { id: actionId } = await recordAction(trx, { installation: id, kind: 'apply_mapping', by, input });
    await beginVersion(trx, id, mappingFile.content, actionId);
    return true;
  });
}

/** Keeps the mapping in force until the end of a posting transaction. Throws MappingSuperseded where it is not the installation's. */
export async function holdMapping(
  trx: Connection,
  { id, mappingHash }: Pick<InstallationConfig, 'id' | 'mappingHash'>,
): Promise<void> {
  await lockMapping(trx, id, 'shared');
  const inForce = await newestHash(trx, id);
  if (inForce !== null && inForce !== mappingHash) throw new MappingSuperseded(id);
}

/** A statement of its own: the next one sees what was written by then. */
async function lockMapping(trx: Connection, installation: InstallationId, mode: 'shared' | 'alone'): Promise<void> {
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await execute(trx, `select ${lock}(hashtextextended(?, 0))`, [`vetledger mapping ${installation}`]);
}

async function newestHash(db: Connection, installation: InstallationId): Promise<string | null> {
  const newest = await maybeRow(
    db,
    { mapping_hash: text },
    'select mapping_hash from mapping_version where installation = ? order by number desc limit 1',
    [installation],
  );
  return newest?.mapping_hash ?? null;
}

async function beginVersion(
  trx: Connection,
  installation: InstallationId,
  content: string,
  actionId: number | null,
): Promise<void> {
  const { mapping, mappingHash } = mappingOf(content);
  await execute(
    trx,
    `insert into mapping_version (installation, number, mapping_hash, content, version, approved_by, action_id)
     select ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? from mapping_version where installation = ?`,
    [
      ...[installation, mappingHash, content, mapping.version ?? null, mapping.approved_by ?? null],
      ...[actionId, installation],
    ],
  );
}

/** Which mapping an installation works by, for people: its file, or the version in the database where the file holds another. */
export function mappingName({ mapping, mappingHash, mappingFile, mappingPath }: InstallationConfig): string {
  if (mappingHash === mappingFile.hash) return mappingPath;
  return `${mappingVersionText({ hash: mappingHash, version: mapping.version ?? null })} in the database`;
}

/** Why a mapping file is not the mapping in force, and what puts it in force; null where it is, or will be version 1. */
export function fileRemark({ installation, number, file }: MappingInForce): string | null {
  if (file === 'in force' || number === null) return null;
  const { id, mappingPath } = installation;
  const applies = `\`vetledger mapping apply ${mappingPath} --reason TEXT\` puts it in force`;
  const why = {
    next: 'has changed; a reload or restart of `vetledger run`, `vetledger sync` or `vetledger repost` puts it in force',
    earlier: `was in force before, and does not come back by itself; ${applies}`,
    proposal: `is a proposal, because mapping.follow_file is off; ${applies}`,
  }[file];
  return `${mappingPath} is not the mapping in force of installation ${id}, which is version ${number} (${mappingName(installation)}): the file ${why}.`;
}
