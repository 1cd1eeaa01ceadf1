import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 61, invoices: 60, overlapSeconds: 5 });
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: coverage}'));
});
afterAll(() => clinic?.stop());

const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
const refused = { unauthorizedOnce: { count: 9, action: 'unallocatedpayment.list' } };

test('a failed window is shown with the window that covers it, and the windows have left no gap', async () => {
  await clinic.sync();
  clinic.sandbox.live(10);
  clinic.sandbox.setFaults(refused);
  const failed = await clinic.sync();
  expect(failed).toMatchObject({ outcome: 'failed', error: { code: 'unauthorized' } });
  const before = (await command('windows --failed --json')).json();
  expect(before.windows).toMatchObject([{ id: failed.window, outcome: 'failed', covered_by: null }]);
  expect((await command('windows --failed')).stdout).toContain('nothing yet');

  clinic.sandbox.setFaults({ unauthorizedOnce: null });
  const next = await clinic.sync();
  expect(next).toMatchObject({ outcome: 'closed' });
  const after = (await command('windows --failed --json')).json();
  expect(after.windows).toMatchObject([{ id: failed.window, covered_by: expect.arrayContaining([next.window]) }]);

  await clinic.sync();
  const gaps = await command('windows --gaps');
  expect(gaps).toMatchObject({ code: 0, stdout: expect.stringContaining('no gap since') });
  // An interval that equals the window's is not stored again.
  const [stored] = await clinic.rows<{ most: number }>(
    `select max(pg_column_size(row(invoice_span, prepayment_span, row_span, payment_span, unread_streams))) as most
     from sync_window where outcome = 'closed'`,
  );
  expect(stored!.most).toBeLessThan(150);
});

test('a cursor that was put forward by hand is a gap, with what closes it', async () => {
  await clinic.rows(
    `update sync_cursor set revision = revision + 1,
       value = (value::jsonb || jsonb_build_object('watermark', (value->>'watermark')::timestamptz + interval '1 ms'))::json
     where stream = 'row'`,
  );
  const { code, json } = await command('windows --gaps --json');
  expect(code).toBe(1);
  const [{ gaps }] = json().installations;
  expect(gaps).toMatchObject([
    { stream: 'rows', todo: expect.stringContaining('vetledger replay --installation 4711 --from') },
  ]);
  // The next window shows the same gap.
  await clinic.sync();
  const later = await command('windows --gaps --json');
  expect(later.code).toBe(1);
  expect(later.json().installations[0].gaps).toMatchObject([{ stream: 'rows', from: gaps[0].from, to: gaps[0].to }]);
});
