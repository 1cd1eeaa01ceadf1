import { nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import type { InstallationId } from '../../terms.ts';
import { unitKinds, unitStates } from './unit.ts';

/** Why the ERP takes a unit no more: its period was closed there. */
export const closedInErpCode = 'period_closed_in_erp';

const refusedShape = {
  unitId: text,
  kind: oneOf(unitKinds),
  state: oneOf(unitStates),
  code: nullable(text),
  undoOf: nullable(text),
  /** Our correction of it, where there is one. */
  reversal: nullable(text),
  /** What it reverses itself, where that was not sent either. */
  original: nullable(text),
};

const columns = `u.unit_id as "unitId", u.kind, u.state, u.problem_code as code, u.undo_of as "undoOf",
  (select r.unit_id from erp_unit r
   where r.installation = u.installation and r.reverses = u.unit_id and r.undo_of is null) as reversal,
  (select o.unit_id from erp_unit o
   where o.installation = u.installation and o.unit_id = u.reverses and o.state in ('pending', 'refused')) as original`;

/** Units that wait because their period was closed in the ERP, by chain. */
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
 * A unit that waits because its period was closed in the ERP, locked. Throws UserError for one that does not: one in doubt is to be
 * resolved first, since the ERP may have it.
 */
export async function holdClosedInErp(trx: Connection, installation: InstallationId, unitId: string) {
  const unit = await maybeRow(
    trx,
    refusedShape,
    `select ${columns} from erp_unit u where u.installation = ? and u.unit_id = ? for update`,
    [installation, unitId],
  );
  if (unit === null) {
    throw new UserError(
      {
        code: 'unit_unknown',
        message: `There is no entry ${unitId} in the outbox.`,
        todo: 'Ids are those that `vetledger problems` prints, such as 4711/invoice/123/1.',
      },
      1,
    );
  }
  if (unit.state === 'sending' || unit.state === 'uncertain') {
    throw new UserError(
      {
        code: 'delivery_in_doubt',
        message: `Nobody knows yet whether the ERP has ${unitId}.`,
        todo: 'Wait until `vetledger status` shows none in doubt; then decide again.',
      },
      1,
    );
  }
  if (unit.state !== 'refused' || unit.code !== closedInErpCode) {
    throw new UserError(
      {
        code: 'not_late',
        message: `${unitId} does not wait for a closed period of the ERP.`,
        todo: '`vetledger late list` prints those that do.',
      },
      1,
    );
  }
  if (unit.undoOf !== null) {
    throw new UserError(
      {
        code: 'not_redatable',
        message: `${unitId} is a reversal of a delivery: it belongs to its day.`,
        todo: 'Open the period in the ERP; then `vetledger deliver retry`.',
      },
      1,
    );
  }
  return unit;
}

/**
 * Settles units against each other that come to nothing together, as an entry and its reversal do: none of them was sent, and none
 * is any more. Throws UserError where the ERP has one of them, or may have it.
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
  throw new UserError(
    {
      code: 'delivery_in_doubt',
      message: `One of ${unitIds.join(', ')} was sent to the ERP already: they cannot be settled against each other.`,
      todo: 'Open the period in the ERP; then `vetledger deliver retry`.',
    },
    1,
  );
}
