import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteText } from '../../src/cli/render/reconcile-notes.ts';
import { instant } from '../../src/cli/render/text.ts';
import { sourceCounts } from '../../src/queries/source-counts.ts';
import { noteRepeatsRecords } from '../../src/sync/capabilities/server.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 9, invoices: 40, overlapSeconds: 1 });
});
afterAll(() => clinic?.stop());

test('a list that holds records twice is not compared by its count, which would differ every time', async () => {
  const { installation } = clinic.sandbox;
  expect((await clinic.sync()).outcome).toBe('closed');
  await noteRepeatsRecords(clinic.app.db, installation, 'payment');
  const notes: string[] = [];
  const counts = await sourceCounts(clinic.app, installation, (note) =>
    notes.push(noteText(installation, note, (_, time) => instant(time))),
  );
  expect(counts).toEqual({
    invoice: { count: clinic.sandbox.clinic.invoices.size },
    payment: null,
    prepayment: { count: clinic.sandbox.clinic.prepayments.size },
  });
  expect(notes).toEqual([expect.stringContaining('lists some payments twice')]);
});
