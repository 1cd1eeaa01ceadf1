import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { sourceCounts } from '../support/source-figures.ts';

/** Every text in a history, with decoded payloads. */
function textsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [];
}

const mirrorCounts = (clinic: TestClinic) =>
  clinic.rows<{ kind: string; n: number }>(
    `select kind, count(*) as n from mirror_record where gone_at is null group by kind order by kind`,
  );

describe('the main job, window after window', () => {
  let clinic: TestClinic;
  beforeAll(async () => {
    clinic = await startTestClinic({ seed: 3, invoices: 150 });
  });
  afterAll(() => clinic.stop());

  test('the first window loads, posts and writes back everything, and the books reconcile', async () => {
    const window = await clinic.sync();
    expect(window).toMatchObject({ outcome: 'closed', from: null });
    const source = sourceCounts(clinic);
    expect(window.pulled).toMatchObject(source);
    expect(window.api.throttled).toBe(0);
    expect(await mirrorCounts(clinic)).toContainEqual({ kind: 'invoice', n: source.invoices });
    expect(await clinic.wrongBooks()).toEqual([]);
    const report = await clinic.reconcile();
    expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
  });

  test('each posted prepayment carries its entry’s id, every other key of external_info as it was', async () => {
    const entries = await clinic.rows<{ id: number; entry_id: string }>(
      `select id, entry_id from document where kind = 'prepayment' and state = 'posted'`,
    );
    expect(entries.length).toBeGreaterThan(5);
    let otherKeys = 0;
    for (const { id, entry_id } of entries) {
      const record = clinic.sandbox.clinic.prepayments.get(id)!;
      expect(record.external_info.external_id).toBe(entry_id);
      otherKeys += Object.keys(record.external_info).length - 1;
    }
    expect(otherKeys).toBeGreaterThan(0);
  });

  test('a second window posts nothing, writes nothing back, and takes its own echo for none', async () => {
    const window = await clinic.sync();
    expect(window).toMatchObject({ outcome: 'closed', posted: 0, written_back: 0 });
    expect(window.pulled).toEqual({ invoices: 0, rows: 0, payments: 0, prepayments: 0 });
    expect(window.from).not.toBeNull();
  });

  test('after activity a window pulls what changed, and the books reconcile again', async () => {
    const events = clinic.sandbox.live(40);
    expect(events.length).toBeGreaterThan(10);
    const window = await clinic.sync();
    expect(window.outcome).toBe('closed');
    expect(window.posted).toBeGreaterThan(0);
    expect(window.pulled.invoices).toBeGreaterThan(0);
    expect(window.pulled.invoices).toBeLessThan(120);
    expect(await clinic.wrongBooks()).toEqual([]);
    const report = await clinic.reconcile();
    expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
  });

  test('history and search attributes hold no record and no personal data', async () => {
    const client = clinic.engine.client;
    const names = [...clinic.sandbox.clinic.invoices.all()].map((invoice) => invoice.payer_name).filter((name) => name);
    for await (const run of client.workflow.list({ query: `WorkflowType = 'syncWindow'` })) {
      // The server is shared by the test run, so windows of other clinics are skipped.
      if (!run.workflowId.includes(clinic.app.databaseId)) continue;
      const history = textsOf(await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory()).join('\n');
      expect(history).toContain('"trigger":"sync"');
      for (const name of names.slice(0, 50)) expect(history).not.toContain(name);
      expect(history).not.toContain(clinic.sandbox.token);
      expect(Buffer.byteLength(history)).toBeLessThan(200_000);
    }
  });
});
