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

/** Stored numbers of settled units that differ from the counted numbers. */
export async function miscounts(db: Db, installations: number[]): Promise<string[]> {
  const found = await query<{ id: number; n: number; counted: number }>(
    db,
    `select i.id, (select count(*) from erp_unit where installation = i.id and state = 'delivered')::int as n,
       coalesce((select n from erp_delivered where installation = i.id), 0)::int as counted
     from unnest(?::bigint[]) i(id)`,
    [installations],
  );
  const days = await query<{ installation: number; day: string; state: string }>(
    db,
    `select installation, unit_date::text as day, state from (
       select installation, unit_date, state, n from erp_settled_day
       union all
       select installation, unit_date, state, -1 from erp_unit
       where state not in ('pending', 'sending', 'uncertain', 'drafted', 'refused')) counted
     where installation = any(?::bigint[]) group by 1, 2, 3 having sum(n) <> 0`,
    [installations],
  );
  return [
    ...found.flatMap(({ id, n, counted }) =>
      n === counted ? [] : [`installation ${id}: ${n} entries are delivered, and ${counted} are counted`],
    ),
    ...days.map((each) => `installation ${each.installation}: the entries ${each.state} on ${each.day} are miscounted`),
  ];
}
