import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { AttemptNote } from '../../activities/attempts.ts';
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
    const handle = clinic.engine.client.workflow.getHandle(row.workflow_id, row.run_id);
    const note = await waitFor('third attempt', async () => {
      const { raw } = await handle.describe();
      for (const { attempt, heartbeatDetails } of raw.pendingActivities ?? []) {
        const [left] = heartbeatDetails?.payloads ?? [];
        if ((attempt ?? 0) < 3 || !left) continue;
        return defaultPayloadConverter.fromPayload<AttemptNote>(left);
      }
      return null;
    });
    expect(note.unexplained).toBeGreaterThanOrEqual(2);
    await clinic.asOwner('drop trigger break on sync_cursor');
    expect(await window).toMatchObject({ outcome: 'closed' });
    expect(await clinic.wrongBooks()).toEqual([]);
  } finally {
    await clinic.stop();
  }
});
