import type { Connection } from '../../src/db/rows.ts';
import type { UnitState } from '../../src/erp/outbox/unit.ts';
import { query } from '../support/sql.ts';

/** The number of an installation's units by state. */
export async function unitsByState(db: Connection, installation: number): Promise<Partial<Record<UnitState, number>>> {
  const found = await query<{ state: UnitState; n: number }>(
    db,
    'select state, count(*)::int as n from erp_unit where installation = ? group by state',
    [installation],
  );
  return Object.fromEntries(found.map(({ state, n }) => [state, n]));
}
