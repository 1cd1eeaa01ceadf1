import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { openApp } from '../../src/runtime/app.ts';
import { startEngine } from '../../src/runtime/worker.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

describe('what a window depends on besides the source’s records', () => {
  let clinic: TestClinic;
  beforeAll(async () => {
    clinic = await startTestClinic({ seed: 21, invoices: 40 });
    expect((await clinic.sync()).outcome).toBe('closed');
  });
  afterAll(() => clinic.stop());

  test('a start date moved after posting: the window does not open, and says what to set back', async () => {
    const written = readFileSync(clinic.config, 'utf8');
    writeFileSync(clinic.config, written.replace('currency: EUR', 'currency: EUR\n    start_date: 2026-06-01'));
    const { env } = clinic;
    const app = await openApp(await loadConfig(clinic.config, env), { temporal: true, progress: () => undefined, env });
    app.config.temporal.taskQueue = 'moved-start';
    const engine = await startEngine(app, {}, () => undefined);
    try {
      const signal = new AbortController().signal;
      const window = await runWindowNow(app, engine, clinic.sandbox.installation, { trigger: 'sync', signal });
      expect(window.failedToOpen).toMatchObject({ code: 'start_date_moved' });
      expect(window.failedToOpen!.message).toContain('2026-06-01');
    } finally {
      await engine.stop();
      await app.close();
      writeFileSync(clinic.config, written);
    }
    expect((await clinic.sync()).outcome).toBe('closed');
  });

  test('reconcile fetches disputed records again before it reports a difference', async () => {
    // The mirror becomes stale, as if the source had changed a record without a new `modified`.
    const [prepayment] = clinic.sandbox.clinic.prepayments
      .all()
      .filter((one) => one.status === 'Ready' && Number(one.unused_amount) > 0);
    await clinic.rows(
      `update mirror_record set raw = replace(raw::text, ?, ?)::json, content_hash = 'stale', source_time = source_time - interval '1 hour',
         modified = modified - interval '1 hour' where kind = 'prepayment' and id = ?`,
      [`"${prepayment!.unused_amount}"`, '"0.01"', prepayment!.id],
    );
    expect(await clinic.wrongBooks()).toEqual([]);
    const report = await clinic.reconcile();
    expect(report.installations[0]!.equations.E3, JSON.stringify(report.installations[0]!.equations.E3)).toMatchObject({
      ok: true,
      difference: '0.00',
    });
  });
});
