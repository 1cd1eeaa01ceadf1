// Any records hidden for any number of windows: the journal stays as it is, and each posted document concerned is named.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentProblems } from '../../src/queries/problems.ts';
import { verdicts } from '../../src/queries/verdict.ts';
import type { RecordKind } from '../../src/terms.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { hiding } from '../support/hiding.ts';

let clinic: TestClinic;
let aheadMs = 0;
let hide: ReturnType<typeof hiding>;

beforeAll(async () => {
  const now = () => new Date(Date.now() + aheadMs);
  clinic = await startTestClinic({ seed: 8, invoices: 40, overlapSeconds: 1, now });
  await clinic.sync();
  await clinic.sync();
  hide = hiding(clinic.sandbox);
});
afterAll(() => clinic?.stop());

const journal = () => clinic.rows<{ hash: string }>('select id, hash from entry order by seq');

/** A window with a census in which every row set is fetched again, as a pass of the scrub would. */
async function window(): Promise<void> {
  aheadMs += 2_100;
  await clinic.rows('update installation_state set census_taken_at = null');
  await clinic.rows(`update mirror_record set rows_source_time = null where kind = 'invoice'`);
  await clinic.sync();
  await clinic.sync();
}

/** What must be named while these are hidden: posted documents, and invoices of which a row is. */
async function concerned(hidden: ReadonlySet<string>): Promise<string[]> {
  const posted = await clinic.rows<{ kind: RecordKind; id: number }>(
    `select kind, id from document where state = 'posted' order by kind, id`,
  );
  const rows = clinic.sandbox.clinic.invoiceRows;
  return posted.flatMap(({ kind, id }) => {
    const isHidden = hidden.has(`${kind} ${id}`);
    const lacksRows = kind === 'invoice' && rows.of(id).some((row) => hidden.has(`row ${row.id}`));
    return isHidden || lacksRows ? [`${kind} ${id}`] : [];
  });
}

test('hidden records leave the journal as it is, and are named', async () => {
  const before = await journal();
  const { invoices, invoiceRows, invoicePayments, prepayments } = clinic.sandbox.clinic;
  const all = Object.entries({
    invoice: invoices,
    row: invoiceRows,
    payment: invoicePayments,
    prepayment: prepayments,
  }).flatMap(([kind, table]) => [...table.all()].map(({ id }) => `${kind} ${id}`));
  const subset = fc.oneof(
    fc.subarray(all, { maxLength: 12 }),
    fc.subarray(all, { minLength: 20 }),
    fc
      .subarray(['invoice', 'row', 'payment', 'prepayment'], { minLength: 1 })
      .map((kinds) => all.filter((each) => kinds.includes(each.split(' ')[0]!))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(subset, { minLength: 1, maxLength: 2 }), async (windows) => {
      for (const hiddenNow of windows) {
        const hidden = new Set(hiddenNow);
        hide((kind, id) => hidden.has(`${kind} ${id}`));
        const expected = await concerned(hidden);
        await window();
        expect(await journal()).toEqual(before);
        const { app } = clinic;
        const problems = await documentProblems(app.db, app.config.installations);
        const named = problems.flatMap(({ code, document, documents }) =>
          code === 'missing_in_source' || code === 'source_shrank' ? (documents ?? [document]) : [],
        );
        expect(named.sort()).toEqual(expected.sort());
        const {
          installations: [report],
        } = await clinic.reconcile();
        expect(report!.equations, JSON.stringify(report!.equations)).toMatchObject({ E6: { ok: true } });
        expect(report!.complete).toBe(expected.length === 0);
        const [verdict] = (await verdicts(app.db, app.config.installations)).values();
        expect(verdict!.complete).toBe(expected.length === 0);
      }
      hide(() => false);
      await window();
      expect(await journal()).toEqual(before);
      expect(await documentProblems(clinic.app.db, clinic.app.config.installations)).toEqual([]);
    }),
    { numRuns: 3, endOnFailure: true },
  );
}, 240_000);
