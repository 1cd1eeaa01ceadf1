import { expect, it } from 'vitest';
import { execute } from '../../../src/db/rows.ts';
import { approveUnits } from '../../../src/erp/outbox/state.ts';
import { useDatabase } from '../../support/database.ts';

const { db } = useDatabase();

it('the time to approve a large first load is proportional to its size', async () => {
  // With quadratic time these would take minutes, and PostgreSQL ends the statement after two.
  const units = 40_000;
  await execute(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, needs_approval, is_backlog)
     select 1, '1/invoice/' || n || '/1', 'entry', n, '2026-01-15', 'KEY' || n, 'company', true, true
     from generate_series(1, ?::int) n`,
    [units],
  );
  const by = { actedBy: 'tester', reason: 'a test' };
  expect(await db.transaction((trx) => approveUnits(trx, 1, '2026-12-31', by))).toBe(units);
});
