import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { releaseLease, takeLease } from '../../src/db/lease.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { reconcileWithSource } from '../../src/queries/reconcile.ts';
import { reconcileBooks } from '../../src/reconcile/index.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

const lost = 150_000;
let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 8, invoices: 300 });
  expect((await clinic.sync()).error ?? null).toBeNull();
}, 60_000);
afterAll(() => clinic.stop());

const installation = () => clinic.sandbox.installation;
const reconcile = (notes: unknown[] = []) =>
  reconcileWithSource(clinic.app, clinic.app.config.installations, (_, note) => notes.push(note));

test('documents in dispute are fetched again only where no window holds the mirror', async () => {
  await clinic.rows(`update mirror_record set raw = replace(raw::text, '"due_sum":', '"due_sum":"7.77","due_once":')::json, content_hash = repeat('0', 64)
    where kind = 'invoice' and id = (select min(id) from document where kind = 'invoice' and state = 'posted')`);
  const { app } = clinic;
  // The window opens after reconcile has begun to count.
  let lease: ReturnType<typeof takeLease> | null = null;
  const practice: typeof app.practice = (id) => {
    lease ??= takeLease(app.db, { installation: id, lane: 'live' }, 'a window');
    return app.practice(id);
  };
  const notes: unknown[] = [];
  const ports = { db: app.db, clock: app.clock, practice };
  const report = await reconcileWithSource(ports, app.config.installations, (_, note) => notes.push(note));
  expect(report.ok).toBe(false);
  expect(notes).toContainEqual({ reason: 'mirror_not_refreshed', documents: 1 });
  const taken = await (lease ?? Promise.reject(new Error('nothing was counted')));
  if (taken) await releaseLease(app.db, taken);
  expect(report.installations[0]?.refetched).toEqual({ documents: 0, changed: 0, left: 1 });
  const again = await reconcile();
  expect(again.installations[0]).toMatchObject({ ok: true, refetched: { documents: 1, changed: 1, left: 0 } });
  expect((await reconcile()).installations[0]).not.toHaveProperty('refetched');
});

test('two hundred documents in dispute are fetched again in a run, and the others are counted', async () => {
  const disputed = await clinic.rows(`update mirror_record m
    set raw = replace(m.raw::text, '"due_sum":', '"due_sum":"7.77","due_once":')::json, content_hash = repeat('0', 64)
    from document d where m.kind = 'invoice' and d.state = 'posted'
      and (d.installation, d.kind, d.id) = (m.installation, m.kind, m.id) returning m.id`);
  expect(disputed.length).toBeGreaterThan(220);
  const first = await reconcile();
  const left = disputed.length - 200;
  expect(first.installations[0]).toMatchObject({ ok: false, refetched: { documents: 200, changed: 200, left } });
  const second = await reconcile();
  expect(second.installations[0]).toMatchObject({ ok: true, refetched: { documents: left, changed: left, left: 0 } });
});

test('150,000 lost documents are counted, and the first thousand listed', async () => {
  await clinic.rows(
    `insert into document (installation, kind, id, state, dirty)
     select ?, 'payment', 10000000 + n, 'held', false from generate_series(1, ${lost}) n`,
    [installation()],
  );
  const began = performance.now();
  const report = await reconcile();
  expect(performance.now() - began).toBeLessThan(30_000);
  const { E6 } = report.installations[0]?.equations ?? {};
  expect(E6).toMatchObject({ ok: false, difference: lost, documents_omitted: lost - 1000 });
  expect(E6?.documents).toHaveLength(1000);
});

test('a report that takes too long is named, with what to do', async () => {
  const slow = openDatabase(clinic.env.DATABASE_URL ?? '', { statementTimeoutMs: 1_000 });
  const [config] = clinic.app.config.installations as [InstallationConfig];
  const input = { ...config, today: '2026-04-10', refundLowersUnused: 'auto' as const, sourceCounts: {} };
  const blocker = await clinic.app.db.transaction();
  try {
    await blocker.raw('lock table document in access exclusive mode');
    await expect(reconcileBooks(slow, [input])).rejects.toMatchObject({
      code: 'query_timeout',
      message: expect.stringMatching(/E2, E4 and E5 .* of installation \d+/),
      todo: expect.stringContaining('analyze'),
    });
  } finally {
    await blocker.rollback();
    await slow.destroy();
  }
});
