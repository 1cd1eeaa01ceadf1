import { expect, test } from 'vitest';
import { installationStatuses } from '../../src/queries/status.ts';
import { startScrubs } from '../../src/windows/scrubs.ts';
import { startTestClinic } from '../support/clinic.ts';
import { waitFor } from '../workflows/support.ts';

test('the daemon’s scrub finds what moved no modified, says so in status, and leaves the windows alone', async () => {
  const clinic = await startTestClinic({
    seed: 29,
    invoices: 80,
    overlapSeconds: 0,
    scrubs: true,
    // Nine tenths of this period are eight seconds.
    settings: { scrub_days: 0.0001 },
  });
  try {
    const { app, engine, sandbox } = clinic;
    expect((await clinic.sync()).error ?? null).toBeNull();
    const row = sandbox.clinic.invoiceRows
      .all()
      .find(
        ({ invoice, account_number }) => account_number !== '' && sandbox.clinic.invoices.get(invoice)?.status === 3,
      );
    const other = sandbox.clinic.invoiceRows.all().find((each) => each.account_number !== row?.account_number);
    if (row === undefined || other === undefined) throw new Error('the clinic has no such rows');
    sandbox.clinic.invoiceRows.change(row, { account_number: other.account_number });
    expect(await clinic.rows('select from scrub_pass')).toEqual([]);

    await startScrubs(app, engine);
    const asked = [{ ...app.config.installations[0]!, scrubDays: 0.0001 }];
    const ports = { db: app.db, schedule: { everySeconds: 300 }, taskQueue: 'vetledger', seals: false };
    const status = async () => (await installationStatuses({ ...ports, now: new Date() }, asked))[0]!;
    const { scrub } = await waitFor(
      'finished pass',
      async () => {
        const found = await status();
        return found.scrub.state === 'done' || found.scrub.last_pass ? found : null;
      },
      60_000,
    );
    const lists = scrub.last_pass?.lists ?? scrub.lists;
    expect(lists?.rows).toMatchObject({ differing: 1, missing: 0 });
    expect(lists?.invoices).toMatchObject({ records: sandbox.clinic.invoices.size, differing: 0, missing: 0 });
    const window = await clinic.sync();
    expect(window).toMatchObject({ outcome: 'closed' });
    expect(window.posted).toBeGreaterThan(0);
    expect(await clinic.wrongBooks()).toEqual([]);
    const { installations } = await clinic.reconcile();
    expect(JSON.stringify(installations[0])).toContain('changed_unseen');
  } finally {
    await clinic.stop();
  }
});
