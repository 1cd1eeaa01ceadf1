import { nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import type { InstallationId } from '../../terms.ts';
import { outboxErrors } from '../../texts/errors/outbox.ts';
import { unitKinds, unitStates } from './unit.ts';

/** Problem code of a unit whose period was closed in the ERP. */
export const closedInErpCode = 'period_closed_in_erp';

const refusedShape = {
  unitId: text,
  kind: oneOf(unitKinds),
  state: oneOf(unitStates),
  code: nullable(text),
  undoOf: nullable(text),
  /** Id of the unit that reverses this one; null if there is none. */
  reversal: nullable(text),
  /** Id of the unit that this one reverses, if that was not sent either; null otherwise. */
  original: nullable(text),
};

const columns = `u.unit_id as "unitId", u.kind, u.state, u.problem_code as code, u.undo_of as "undoOf",
  (select r.unit_id from erp_unit r
   where r.installation = u.installation and r.reverses = u.unit_id and r.undo_of is null) as reversal,
  (select o.unit_id from erp_unit o
   where o.installation = u.installation and o.unit_id = u.reverses and o.state in ('pending', 'refused')) as original`;

/** Units that wait because their period was closed in the ERP, in the order of their chains. */
export function unitsClosedInErp(db: Connection, installation: InstallationId) {
  return rows(
    db,
    refusedShape,
    `select ${columns} from erp_unit u
     where u.installation = ? and u.state = 'refused' and u.problem_code = ? order by u.kind, u.seq`,
    [installation, closedInErpCode],
  );
}

/**
 * Locks a unit that waits because its period was closed in the ERP. Throws UserError for any other unit. A unit in
 * doubt has to be resolved first, since the ERP may have it.
 */
export async function holdClosedInErp(trx: Connection, installation: InstallationId, unitId: string) {
  const unit = await maybeRow(
    trx,
    refusedShape,
    `select ${columns} from erp_unit u where u.installation = ? and u.unit_id = ? for update`,
    [installation, unitId],
  );
  if (unit === null) {
    throw new UserError(outboxErrors.unitUnknown({ unitId }), 1);
  }
  if (unit.state === 'sending' || unit.state === 'uncertain') {
    throw new UserError(outboxErrors.inDoubt({ unitId }), 1);
  }
  if (unit.state !== 'refused' || unit.code !== closedInErpCode) {
    throw new UserError(outboxErrors.notLate({ unitId }), 1);
  }
  if (unit.undoOf !== null) {
    throw new UserError(outboxErrors.notRedatable({ unitId }), 1);
  }
  return unit;
}

/**
 * Cancels units out that have no effect together, such as an entry and its reversal. They were not sent, and will not
 * be. Throws UserError if the ERP has one of them, or may have it.
 */
export async function cancelOut(
  trx: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
): Promise<void> {
  const settled = await execute(
    trx,
    `update erp_unit set state = 'cancelled_out', settled_at = clock_timestamp(), not_before = null,
       problem_code = null, problem_message = null, problem_since = null
     where installation = ? and unit_id = any(?::text[]) and state in ('pending', 'refused')`,
    [installation, unitIds],
  );
  if (settled === unitIds.length) return;
  throw new UserError(outboxErrors.alreadySent({ unitIds: unitIds.join(', ') }), 1);
}
