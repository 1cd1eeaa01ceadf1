import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { migrate, openDatabase, query } from '../../src/db/pool.ts';
import { claimDocuments, saveJudged } from '../../src/ledger/documents.ts';
import { appendEntries } from '../../src/ledger/append.ts';
import { exportEntries } from '../../src/ledger/export.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { loadFacts } from '../../src/mirror/facts.ts';
import { savePage, settleRowSets } from '../../src/mirror/store.ts';
import { post } from '../../src/posting/index.ts';
import { parseMapping } from '../../src/posting/mapping.ts';
import { loadDialect } from '../../src/practice/dialect.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../src/practice/json.ts';
import { reconcile, renderReconcile } from '../../src/reconcile/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { createTestDatabase } from '../support/database.ts';

it('whole', async () => {
  const invoices = Number(process.env.N ?? 600);
  const sandbox = await startSandbox({ invoices, rateWindowSeconds: 0.01, seed: Number(process.env.SEED ?? 1) });
  const database = await createTestDatabase();
  const db = openDatabase(database.url);
  await migrate(db);
  const started = new Map<string, number>();
  db.on('query', (q: any) => started.set(q.__knexQueryUid, Date.now()));
  db.on('query-response', (_r: any, q: any) => { const ms = Date.now() - started.get(q.__knexQueryUid)!; if (ms > 1000) console.log('SLOW', ms, q.sql.slice(0, 400)); });
  const dialect = loadDialect();
  const mapping = (parseMapping(parse(readFileSync('mappings/demo.yaml', 'utf8'))) as any).mapping;
  const installation = sandbox.installation;
  const scope = { installation, timezone: 'Europe/Helsinki', dialect };
  const paths = { invoice: 'invoice', row: 'invoicerow', payment: 'invoicepayment', prepayment: 'unallocatedpayment' } as const;
  const counts: any = {};
  async function pull() {
    const settleAt = new Date(Date.now() + 4000); const t0 = Date.now();
    for (const kind of ['invoice', 'row', 'payment', 'prepayment'] as const) {
      let last = 0;
      for (;;) {
        const flag = kind === 'row' ? '&expose_invoicerow_vat_group' : '';
        const r = await fetch(`${sandbox.url}/${installation}/api/0.1/${paths[kind]}/?id__gt=${last}&page_size=1000${flag}`, { headers: { authorization: `Bearer ${sandbox.token}` } });
        if (r.status === 429) { await new Promise((f) => setTimeout(f, 50)); continue; }
        const body = parseJson(await r.text()) as any;
        if (last === 0) counts[kind] = { count: Number(String(body.count)) };
        const results = body.results.map((value: any) => ({ id: Number(String(value.id)), raw: stringifyJson(value), value }));
        if (results.length === 0) break;
        console.log(kind, last, results.length, Date.now() - t0);
        last = Math.max(...results.map((x: any) => x.id));
        const now = new Date(Date.now() + 5000);
        await db.transaction((trx) => savePage(trx, scope, kind, { results, sourceTime: now, answeredAt: now }));
        if (results.length < 1000) break;
      }
    }
    const ids = (await query<{ id: number }>(db, `select id from mirror_record where kind='invoice'`)).map((x) => x.id);
    await db.transaction((trx) => settleRowSets(trx, installation, ids, settleAt));
  }
  const startDate = process.env.START ?? null;
  const context = { installation, timezone: 'Europe/Helsinki', currency: 'EUR', decimals: 2, startDate, mapping, closedThrough: null, sourceLockDates: new Map() };
  async function judge() {
    const judgedBefore = new Date(Date.now() + 100000);
    for (;;) {
      const n = await db.transaction(async (trx) => {
        const claimed = await claimDocuments(trx, installation, { limit: 500, last: true, judgedBefore } as any);
        const facts = await loadFacts(trx, installation, dialect, claimed);
        const byKey = new Map(facts.map((f: any) => [`${f.kind}/${f[f.kind].id}`, f]));
        const judged: any[] = claimed.map((document) => ({ document, decision: post(byKey.get(`${document.kind}/${document.id}`)!, document.before, context as any), entryIds: [] as string[], waits: false }));
        const ids = await appendEntries(trx, installation, judged.flatMap((j) => j.decision.entries), { decimals: 2, windowId: null });
        let at = 0;
        for (const j of judged) { j.entryIds = ids.slice(at, at + j.decision.entries.length); at += j.decision.entries.length; }
        await saveJudged(trx, installation, judged);
        return claimed.length;
      });
      if (n === 0) break;
    }
  }
  const input = { id: installation, currency: 'EUR', decimals: 2, timezone: 'Europe/Helsinki', startDate, dialect, refundLowersUnused: 'auto' as const };
  for (let round = 0; round < 2; round++) {
    if (round > 0) sandbox.live(60);
    await pull();
    let t = Date.now();
    await judge();
    console.log('judge', Date.now() - t);
    t = Date.now();
    const report = await reconcile(db, [{ ...input, sourceCounts: { ...counts, row: null } }]);
    console.log('reconcile', Date.now() - t, Math.round(process.memoryUsage().rss / 1e6));
    writeFileSync(`/tmp/report-${round}.txt`, renderReconcile(report));
    console.log(Object.values(report.installations[0]!.equations).map((e) => e.ok).join());
  }
  expect(await verifyChain(db, installation)).toBeNull();
  for (const format of ['hledger', 'beancount', 'csv'] as const) {
    let text = '';
    for await (const piece of exportEntries(db, { format, installations: [{ id: installation, currency: 'EUR', decimals: 2 }], range: { from: null, to: null } })) text += piece;
    writeFileSync(`/tmp/export.${format}`, text);
  }
  await db.destroy();
  await database.drop();
  await sandbox.stop();
}, 600000);
