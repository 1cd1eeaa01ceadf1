// The states of units in the outbox.

import type { Db } from '../../../src/db/pool.ts';
import { query } from '../../support/sql.ts';
import type { OutboxState } from './oracle.ts';

export function outboxStates(db: Db, installations: number[]): Promise<OutboxState[]> {
  return query<OutboxState>(
    db,
    `select unit_id as "unitId", state, problem_code as problem, exists (
       select from erp_sweep s where s.installation = u.installation and s.unit_id = u.unit_id) as "isSweptLater"
     from erp_unit u where installation = any(?::bigint[]) order by installation, seq`,
    [installations],
  );
}

/** Installations whose stored number of delivered units differs from the counted number. */
export async function miscounts(db: Db, installations: number[]): Promise<string[]> {
  const found = await query<{ id: number; n: number; counted: number }>(
    db,
    `select i.id, (select count(*) from erp_unit where installation = i.id and state = 'delivered')::int as n,
       coalesce((select n from erp_delivered where installation = i.id), 0)::int as counted
     from unnest(?::bigint[]) i(id)`,
    [installations],
  );
  return found.flatMap(({ id, n, counted }) =>
    n === counted ? [] : [`installation ${id}: ${n} entries are delivered, and ${counted} are counted`],
  );
}
