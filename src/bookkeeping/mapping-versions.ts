import { type ActedBy, recordAction } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { mappingOf } from '../config/mapping-files.ts';
import { bool, integer, nullable, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import { mappingVersionText } from '../ledger/journal/entry-records.ts';
import type { InstallationId } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';

/**
 * The mapping in force of an installation is its newest version in the database, whatever the mapping files contain.
 * The file of the first process start is version 1. A file with other content becomes the next version at a start with
 * `mapping.follow_file`, otherwise by `vetledger mapping apply`. Only that command puts an earlier version in force
 * again.
 */

/** The relation of the mapping file to the mapping in force when a process starts. */
type FileState = 'in force' | 'next' | 'proposal' | 'earlier';

export interface MappingInForce {
  /** The installation, with the mapping in force. */
  installation: InstallationConfig;
  /** The version's number. Null before the first start; then the file's mapping is used. */
  number: number | null;
  file: FileState;
}

/**
 * The mapping changed while a transaction used the earlier one. The transaction posts nothing; the next attempt reads
 * the new mapping.
 */
export class MappingSuperseded extends UserError {
  override readonly name = 'MappingSuperseded';

  constructor(installation: InstallationId) {
    super(booksErrors.mappingSuperseded({ installation }), 3);
  }
}

/** Returns the installations with their mappings in force, in order, read in one SQL statement. */
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

/** The installation with the present mapping in force. */
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

/** The installation with the mapping that was in force at an instant; with its present one if none was. */
export async function withMappingAt(
  db: Connection,
  installation: InstallationConfig,
  at: Date,
): Promise<InstallationConfig> {
  const then = await maybeRow(
    db,
    { content: text },
    'select content from mapping_version where installation = ? and began_at <= ? order by number desc limit 1',
    [installation.id, at],
  );
  return then === null ? installation : { ...installation, ...mappingOf(then.content) };
}

/** The installation with the mapping of its file. */
export function withMappingOfFile(installation: InstallationConfig): InstallationConfig {
  return { ...installation, ...mappingOf(installation.mappingFile.content) };
}

/** Does the same as `mappingsInForce` when a process starts, and puts files in state `next` in force. */
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

/** Puts a mapping in force by an action. Returns false if it already is. Waits for running postings. */
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

/**
 * Puts an approved proposal in force, in the transaction of the caller. False if the mapping in force is not `base` any more. Waits
 * for running postings.
 */
export async function applyProposal(
  trx: Connection,
  installation: InstallationId,
  { content, base, ...input }: { content: string; base: string; proposal: number; mapping_hash: string },
  by: ActedBy,
): Promise<boolean> {
  await lockMapping(trx, installation, 'alone');
  if ((await newestHash(trx, installation)) !== base) return false;
  const { id: actionId } = await recordAction(trx, { installation, kind: 'apply_mapping', by, input });
  await beginVersion(trx, installation, content, actionId);
  return true;
}

/**
 * Locks the mapping in force until the end of a posting transaction. Throws MappingSuperseded if it is not the
 * installation's mapping.
 */
export async function holdMapping(
  trx: Connection,
  { id, mappingHash }: Pick<InstallationConfig, 'id' | 'mappingHash'>,
): Promise<void> {
  await lockMapping(trx, id, 'shared');
  const inForce = await newestHash(trx, id);
  if (inForce !== null && inForce !== mappingHash) throw new MappingSuperseded(id);
}

/** A separate statement, so that the next one sees what was written before the lock. */
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

/** The content of a mapping that is or was in force. Null if it never was. */
export async function contentOf(db: Connection, installation: InstallationId, hash: string): Promise<string | null> {
  const sql = 'select content from mapping_version where installation = ? and mapping_hash = ? limit 1';
  return (await maybeRow(db, { content: text }, sql, [installation, hash]))?.content ?? null;
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

/** The name of an installation's mapping for messages: its file, or the version in the database if the file differs. */
export function mappingName({ mapping, mappingHash, mappingFile, mappingPath }: InstallationConfig): string {
  if (mappingHash === mappingFile.hash) return mappingPath;
  return `${mappingVersionText({ hash: mappingHash, version: mapping.version ?? null })} in the database`;
}

/**
 * The reason why the mapping file is not in force, and which command puts it in force. Null if it is in force or
 * becomes version 1.
 */
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
