import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { waitFor } from '../workflows/support.ts';
import { type Call, type TracedFunction, traceCalls } from './trace-calls.ts';

/** The functions in the table of the architecture page, in its order. */
function documentedPath(): TracedFunction[] {
  const page = readFileSync(new URL('../../docs/developers/architecture.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## One invoice through the code');
  const rows = section.split('\n## ')[0]!.matchAll(/^\| `(\w+)` \| `([\w/.-]+)` \|/gm);
  return [...rows].map(([, name = '', file = '']) => ({ name, file }));
}

const path = documentedPath();
let clinic: TestClinic;
let calls: Call[];

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 3, invoices: 0, settings: { erp: '{kind: csv, auto: true}' } });
  await clinic.sync();
  const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
  clinic.sandbox.clinic.createInvoice({ rows: [row] });
  const trace = traceCalls(path);
  try {
    await clinic.sync();
    await waitFor('the delivery', async () => {
      const states = await clinic.rows<{ state: string }>('select state from erp_unit');
      return states.length > 0 && states.every(({ state }) => state === 'handed_over');
    });
  } finally {
    trace.stop();
  }
  ({ calls } = trace);
});
afterAll(() => clinic?.stop());

test('one invoice passes the functions that the architecture page names, in its order', () => {
  expect(path.length).toBeGreaterThan(10);
  expect(path.length).toBeLessThanOrEqual(15);
  const names = path.map(({ name }) => name);
  expect([...new Set(calls.map(({ name }) => name))]).toEqual(names);
});

test('few functions wait for one request to the source', () => {
  const sent = calls.find(({ name }) => name === 'attemptOnce')!;
  const own = sent.stack.filter((frame) => /\/(src|activities)\//.test(frame));
  expect(own.some((frame) => frame.startsWith('walk '))).toBe(true);
  expect(own.length, own.join('\n')).toBeLessThanOrEqual(24);
});
