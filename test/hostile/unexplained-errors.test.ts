import { expect, test } from 'vitest';
import { startTestClinic } from '../support/clinic.ts';
import { openRow, waitFor } from '../workflows/support.ts';

test('errors that nothing explains are counted over the attempts; once their cause is gone, the window closes', {
  timeout: 300_000,
}, async () => {
  const clinic = await startTestClinic({ seed: 41, invoices: 40 });
  try {
    await clinic.asOwner(`create function break() returns trigger language plpgsql as $$
      begin raise exception 'a bug of ours' using errcode = 'XX000'; end $$;
      create trigger break before insert or update on sync_cursor for each row execute function break()`);
    const window = clinic.sync();
    const row = await openRow(clinic);
    const steps = `select unexplained from open_step where run_id = ? and attempt >= 3`;
    const step = await waitFor(
      'third attempt',
      async () => (await clinic.rows<{ unexplained: number }>(steps, [row.run_id]))[0] ?? null,
    );
    expect(step.unexplained).toBeGreaterThanOrEqual(2);
    await clinic.asOwner('drop trigger break on sync_cursor');
    expect(await window).toMatchObject({ outcome: 'closed' });
    expect(await clinic.rows('select * from open_step')).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
  } finally {
    await clinic.stop();
  }
});
