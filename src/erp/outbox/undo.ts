import { type ActedBy, recordAction } from '../../actions/record.ts';
/**
 * Undoes a delivery. Units that the ERP has are reversed there by further entries. Units that it does not have yet are
 * excluded. Our books stay unchanged.
 */
import { insertRows } from '../../db/bulk.ts';
import { bool, date, integer, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import { undoId } from '../../ledger/general-ledger.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { outboxErrors } from '../../texts/errors/outbox.ts';
import { entryKey } from '../entry-key.ts';
import { retryUnits } from './state.ts';
import { unitKinds } from './unit.ts';

export interface UndoRange {
  from: CalendarDate;
  to: CalendarDate;
}

export interface UndoPlan {
  /** Number of units that the ERP has and that are reversed there. */
  reversed: number;
  /** Number of units that were not sent yet and are excluded. */
  withheld: number;
}

interface Undoable {
  unit_id: string;
  kind: (typeof unitKinds)[number];
  seq: number;
  unit_date: CalendarDate;
  company: string;
  undo_n: number;
}

/** SQL: the latest undo or redo of unit `u`, as `last`. */
const latestUndo = `left join lateral (
  select a.undo_n, a.state from erp_unit a where a.installation = u.installation and a.undo_of = u.unit_id
  order by a.undo_n desc limit 1) last on true`;

/** States in which the ERP has a unit, or may have it. */
const maybeInErp = `('sending', 'uncertain', 'drafted', 'delivered', 'handed_over', 'acknowledged')`;

/**
 * SQL: whether a correction of unit `u` has reversed it in the ERP, or may have. A correction that was not sent does
 * not count, since it will not be sent.
 */
const isReversed = `exists (
  select from erp_unit r where r.installation = u.installation and r.reverses = u.unit_id and r.undo_of is null
    and r.state in ${maybeInErp})`;

/** SQL: whether our books have a correction of unit `u`. */
const hasReversal = `exists (
  select from erp_unit r where r.installation = u.installation and r.reverses = u.unit_id and r.undo_of is null)`;

/**
 * Units of these dates that the ERP has and that an undo has to reverse. Units that a correction has already reversed
 * are left out. So are corrections whose original is undone with them.
 */
function delivered(
  db: Connection,
  installation: InstallationId,
  { from, to }: UndoRange,
  lock: 'for update of u' | '' = '',
): Promise<Undoable[]> {
  return rows(
    db,
    { unit_id: text, kind: oneOf(unitKinds), seq: integer, unit_date: date, company: text, undo_n: integer },
    `select u.unit_id, u.kind, u.seq, u.unit_date, u.company, coalesce(last.undo_n, 0) as undo_n
     from erp_unit u ${latestUndo}
     where u.installation = ? and u.undo_of is null and u.state in ('delivered', 'acknowledged') and u.unit_date between ?::date and ?::date
       and coalesce(last.undo_n % 2 = 0, true) and not ${isReversed}
       and not exists (
         select from erp_unit o where o.installation = u.installation and o.unit_id = u.reverses and o.state in ('delivered', 'acknowledged'))
     order by u.kind desc, u.seq ${lock}`,
    [installation, from, to],
  );
}

const isWithheld = `installation = ? and undo_of is null and state = 'pending' and attempts = 0 and unit_date between ?::date and ?::date`;

/**
 * Returns the effect of an undo of these dates, and the units that are reversed. Throws UserError if units of these dates are in
 * doubt.
 */
export async function planUndo(
  db: Connection,
  installation: InstallationId,
  range: UndoRange,
): Promise<UndoPlan & { units: string[] }> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*)::int as n from erp_unit
     where installation = ? and unit_date between ?::date and ?::date
       and (state in ('sending', 'uncertain', 'drafted', 'handed_over') or state = 'pending' and attempts > 0)`,
    [installation, range.from, range.to],
  );
  if (n > 0) {
    throw new UserError(outboxErrors.notUndoable({ n }), 1);
  }
  const { withheld } = await row(
    db,
    { withheld: integer },
    `select count(*)::int as withheld from erp_unit where ${isWithheld}`,
    [installation, range.from, range.to],
  );
  const units = (await delivered(db, installation, range)).map(({ unit_id }) => unit_id);
  return { reversed: units.length, withheld, units };
}

/** Puts the reversing entries into the outbox, and excludes units that were not sent. */
export async function undoUnits(
  trx: Connection,
  { installation, databaseId }: { installation: InstallationId; databaseId: string },
  range: UndoRange,
  by: ActedBy,
): Promise<UndoPlan> {
  await planUndo(trx, installation, range);
  const units = await delivered(trx, installation, range, 'for update of u');
  await insertUndos(trx, { installation, databaseId }, units);
  const withheld = await execute(
    trx,
    `update erp_unit set state = 'excluded', is_undone = true, settled_at = clock_timestamp() where ${isWithheld}`,
    [installation, range.from, range.to],
  );
  await excludeReversalsOfUndone(trx, installation);
  const result = { reversed: units.length, withheld };
  await recordAction(trx, { installation, kind: 'undo_delivery', by, input: range, result });
  return result;
}

async function insertUndos(
  trx: Connection,
  { installation, databaseId }: { installation: InstallationId; databaseId: string },
  units: readonly Undoable[],
): Promise<void> {
  await insertRows(
    trx,
    'erp_unit',
    {
      ...{ installation: 'bigint', unit_id: 'text', kind: 'text', seq: 'bigint', unit_date: 'date', company: 'text' },
      ...{
        erp_key: 'text',
        follows: 'text',
        reverses: 'text',
        undo_of: 'text',
        undo_n: 'int',
        is_backlog: 'boolean',
      },
    },
    units.map(({ unit_id: base, undo_n: last, ...unit }) => {
      const id = undoId(base, last + 1);
      const before = last === 0 ? base : undoId(base, last);
      return {
        ...{ ...unit, installation, unit_id: id, erp_key: entryKey(databaseId, id) },
        ...{ follows: before, reverses: before, undo_of: base, undo_n: last + 1, is_backlog: true },
      };
    }),
  );
}

/** SQL: units with these ids that were undone, and that a retry sends again. `last` is the latest undo. */
const redoable = `from erp_unit u ${latestUndo}
  where u.installation = ? and u.unit_id = any(?::text[]) and not ${hasReversal} and (
    u.state = 'excluded' and u.is_undone
    or u.undo_of is null and u.state in ('delivered', 'acknowledged') and last.undo_n % 2 = 1 and last.state in ('delivered', 'acknowledged'))`;

/**
 * The units that a retry of these ids sends again, in the order of their ids: refused and undone ones. Null: all refused ones.
 */
export async function retryableUnits(
  db: Connection,
  installation: InstallationId,
  ids: readonly string[] | null,
): Promise<string[]> {
  const refused = `select unit_id from erp_unit where installation = ? and state = 'refused'`;
  const found =
    ids === null
      ? await rows(db, { unit_id: text }, `${refused} order by unit_id`, [installation])
      : await rows(
          db,
          { unit_id: text },
          `${refused} and unit_id = any(?::text[]) union select u.unit_id ${redoable} order by unit_id`,
          [installation, ids, installation, ids],
        );
  return found.map(({ unit_id }) => unit_id);
}

/**
 * Sends refused and undone units with these ids again, or all refused ones for null, and records one action for them. Returns their ids.
 */
export async function retryOrRedo(
  trx: Connection,
  { installation, databaseId }: { installation: InstallationId; databaseId: string },
  ids: readonly string[] | null,
  by: ActedBy,
): Promise<string[]> {
  const refused = await retryUnits(trx, installation, ids, null);
  const redone = ids === null ? [] : await redoUnits(trx, { installation, databaseId }, ids);
  const units = [...refused, ...redone];
  if (units.length === 0) return [];
  const result = { retried: refused.length, redone };
  await recordAction(trx, { installation, kind: 'retry_delivery', by, input: { units: ids ?? 'all' }, result });
  return units;
}

/**
 * Sends undone units again. Excluded units become pending. Units that were reversed in the ERP get another entry. Units
 * that a correction has reversed meanwhile stay undone. Returns the ids of the units that are sent again.
 */
async function redoUnits(
  trx: Connection,
  { installation, databaseId }: { installation: InstallationId; databaseId: string },
  ids: readonly string[],
): Promise<string[]> {
  const again = await rows(
    trx,
    {
      ...{ unit_id: text, kind: oneOf(unitKinds), seq: integer, unit_date: date, company: text, undo_n: integer },
      is_released: bool,
    },
    `select u.unit_id, u.kind, u.seq, u.unit_date, u.company, coalesce(last.undo_n, 0) as undo_n, u.state = 'excluded' as is_released
     ${redoable} order by u.kind desc, u.seq for update of u`,
    [installation, ids],
  );
  const released = again.filter((unit) => unit.is_released).map(({ unit_id }) => unit_id);
  await execute(
    trx,
    `update erp_unit set state = 'pending', is_undone = false, settled_at = null where installation = ? and unit_id = any(?::text[])`,
    [installation, released],
  );
  await insertUndos(
    trx,
    { installation, databaseId },
    again.filter((unit) => !unit.is_released).map(({ is_released: _, ...unit }) => unit),
  );
  return again.map(({ unit_id }) => unit_id);
}

/**
 * Excludes corrections of undone units. Sending them would reverse a unit in the ERP twice, or one that is not there.
 */
export async function excludeReversalsOfUndone(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(
    trx,
    `update erp_unit r set state = 'excluded', settled_at = clock_timestamp()
     from (select distinct on (undo_of) undo_of, undo_n from erp_unit
           where installation = ? and undo_of is not null order by undo_of, undo_n desc) a
     where r.installation = ? and r.undo_of is null and r.state = 'pending' and r.reverses = a.undo_of and a.undo_n % 2 = 1`,
    [installation, installation],
  );
  await execute(
    trx,
    `update erp_unit r set state = 'excluded', settled_at = clock_timestamp()
     from erp_unit u
     where u.installation = ? and u.is_undone and r.installation = u.installation and r.reverses = u.unit_id
       and r.undo_of is null and r.state = 'pending'`,
    [installation],
  );
}
