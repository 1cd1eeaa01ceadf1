import { nullable, oneOf, type RowOf, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { unitKinds } from '../outbox/unit.ts';

const shape = { unitId: text, kind: oneOf(unitKinds), erpId: nullable(text), erpNumber: nullable(text) };

/** A delivered unit that an entry in the ERP may be a copy of. */
export type CopiedUnit = RowOf<typeof shape>;

const columns = `u.unit_id as "unitId", u.kind, u.erp_id as "erpId", u.erp_number as "erpNumber"`;

/** Delivered units by the ERP's ids. */
export async function unitsWithErpId(
  db: Connection,
  installation: InstallationId,
  erpIds: readonly string[],
): Promise<CopiedUnit[]> {
  if (erpIds.length === 0) return [];
  return rows(
    db,
    shape,
    `select ${columns} from erp_unit u
     where u.installation = ? and u.erp_id = any(?::text[]) and u.state = 'delivered' and u.undo_of is null`,
    [installation, erpIds],
  );
}

/**
 * Delivered units by the labels of their lines. The labels of an entry are its description; those of a summary contain
 * its date.
 */
export async function unitsLabelled(
  db: Connection,
  installation: InstallationId,
  labels: readonly string[],
): Promise<CopiedUnit[]> {
  if (labels.length === 0) return [];
  const days = labels.flatMap((label) => label.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? []);
  return rows(
    db,
    shape,
    `select ${columns} from erp_unit u join entry e on e.id = u.unit_id
     where u.installation = ? and u.kind = 'entry' and u.state = 'delivered' and u.undo_of is null and e.description = any(?::text[])
     union all
     select ${columns} from erp_unit u
     where u.installation = ? and u.kind = 'daily_summary' and u.state = 'delivered' and u.undo_of is null
       and u.unit_date::text = any(?::text[])`,
    [installation, labels, installation, days],
  );
}
