import { columnList, nullable, text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import type { ClaimScope } from './claim-units.ts';
import { type OutboxUnit, unitShape } from './unit.ts';

/**
 * Searches for drafts that appear after the delivery has stopped waiting for the server (table `erp_sweep`). A unit is
 * recorded when it is looked up after a request without an answer. It is searched again after some time, twice at most.
 * Drafts that could not be deleted are searched with them.
 */

/**
 * When a unit is searched again, in multiples of the ERP's look-up time. For most ERPs these are minutes, then hours.
 */
const looksAfter = [5, 60] as const;
/** Number of attempts to delete a surplus draft. After that it stays. */
const mostLooks = 10;

/** Records units whose request may have created an unknown draft. A unit that is already recorded starts again. */
export async function noteSweeps(
  trx: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
  lookUpAfterMs: number,
): Promise<void> {
  if (unitIds.length === 0) return;
  await execute(
    trx,
    `insert into erp_sweep (installation, unit_id, not_before)
     select ?, unit_id, clock_timestamp() + make_interval(secs => ?) from unnest(?::text[]) as unit_id
     on conflict (installation, unit_id) do update set looks = 0, not_before = excluded.not_before, is_late = true`,
    [installation, (looksAfter[0] * lookUpAfterMs) / 1000, unitIds],
  );
}

/** A draft that has to be deleted. */
export interface UnwantedDraft {
  unitId: string;
  /** The ERP's id. */
  id: string;
  /** Hash of the draft's present content (`draftDigest`); null if the content is as it was sent. */
  digest: string | null;
}

/** Records drafts before they are deleted, so that remaining ones are searched later. */
export async function noteDrafts(
  trx: Connection,
  installation: InstallationId,
  drafts: readonly UnwantedDraft[],
  lookUpAfterMs: number,
): Promise<void> {
  await execute(
    trx,
    `insert into erp_sweep (installation, unit_id, not_before, is_late, drafts)
     select ?, unit_id, clock_timestamp() + make_interval(secs => ?), false, jsonb_object_agg(id, digest)
     from unnest(?::text[], ?::text[], ?::text[]) as d(unit_id, id, digest) group by unit_id order by unit_id
     on conflict (installation, unit_id)
     do update set looks = 0, not_before = excluded.not_before, drafts = erp_sweep.drafts || excluded.drafts`,
    [
      ...[installation, (looksAfter[0] * lookUpAfterMs) / 1000],
      ...[drafts.map(({ unitId }) => unitId), drafts.map(({ id }) => id), drafts.map(({ digest }) => digest)],
    ],
  );
}

/** Removes the records of drafts that were deleted, or that a user has changed. */
export async function forgetDrafts(
  trx: Connection,
  installation: InstallationId,
  drafts: readonly Pick<UnwantedDraft, 'unitId' | 'id'>[],
): Promise<void> {
  if (drafts.length === 0) return;
  const unitIds = drafts.map(({ unitId }) => unitId);
  await execute(
    trx,
    'update erp_sweep set drafts = drafts - ?::text[] where installation = ? and unit_id = any(?::text[])',
    [drafts.map(({ id }) => id), installation, unitIds],
  );
  await execute(
    trx,
    `delete from erp_sweep where installation = ? and unit_id = any(?::text[]) and not is_late and drafts = '{}'`,
    [installation, unitIds],
  );
}

/** The recorded drafts of these units. */
export function unwantedDrafts(
  db: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
): Promise<UnwantedDraft[]> {
  return rows(
    db,
    { unitId: text, id: text, digest: nullable(text) },
    `select s.unit_id as "unitId", d.key as id, d.value as digest from erp_sweep s, jsonb_each_text(s.drafts) d
     where s.installation = ? and s.unit_id = any(?::text[]) order by s.unit_id, d.key`,
    [installation, unitIds],
  );
}

/**
 * Units that are due to be searched for surplus drafts: units whose entry the ERP has, so that every draft beside it is
 * surplus, and settled units with recorded drafts.
 */
export function claimSweeps(
  db: Connection,
  { installation, company }: ClaimScope,
  limit: number,
): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit
     where installation = ? and company = ? and state in ('delivered', 'drafted', 'refused', 'cancelled_out', 'excluded')
       and unit_id in (
         select unit_id from erp_sweep s where installation = ? and not_before <= clock_timestamp()
           and (state in ('delivered', 'drafted') or s.drafts <> '{}'))
     order by kind, seq limit ?`,
    [installation, company, installation, limit],
  );
}

/** Postpones units whose look-up was incomplete. This search does not count. */
export async function postponeSweeps(
  trx: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
  afterMs: number,
): Promise<void> {
  await execute(
    trx,
    `update erp_sweep set not_before = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and unit_id = any(?::text[])`,
    [afterMs / 1000, installation, unitIds],
  );
}

/**
 * Records a search of units. They are searched again later; after the last search, their record is removed.
 * `stillThere`: units with a draft that the ERP did not delete.
 */
export async function noteSwept(
  trx: Connection,
  { installation, company }: ClaimScope,
  {
    unitIds,
    stillThere,
    deleted,
    lookUpAfterMs,
  }: { unitIds: readonly string[]; stillThere: readonly string[]; deleted: number; lookUpAfterMs: number },
): Promise<void> {
  await execute(
    trx,
    `delete from erp_sweep where installation = ? and unit_id = any(?::text[])
       and looks >= case when unit_id = any(?::text[]) then ?::int else ?::int end`,
    [installation, unitIds, stillThere, mostLooks - 1, looksAfter.length - 1],
  );
  await execute(
    trx,
    `update erp_sweep set looks = looks + 1, not_before = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and unit_id = any(?::text[])`,
    [(looksAfter[1] * lookUpAfterMs) / 1000, installation, unitIds],
  );
  if (deleted > 0) {
    await execute(trx, 'update erp_company set drafts_swept = drafts_swept + ? where company = ?', [deleted, company]);
  }
}
