import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, mirrored, waitFor } from '../workflows/support.ts';
import { vetledger } from './support.ts';

const onePage = 50;
const estimate =
  /^about \d+ (second|minute)s?: \w+ is the limit \(\d+ invoices, \d+ rows, \d+ payments, \d+ prepayments to load\)$/m;

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 91, invoices: 200, quirks: { maxPageSize: onePage } });
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: backfill}'));
});
afterAll(() => clinic?.stop());

const command = (line: string, signal?: AbortSignal) =>
  vetledger([...line.split(' '), '--config', clinic.config], clinic.env, signal);
/** The messages on stderr of a command with --json, as text. */
const notesOf = (stderr: string) =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
    .join('\n');
const cursors = () => clinic.rows(`select stream, value::text, revision from sync_cursor order by stream`);

test('a first sync says beforehand how long it will take, and on the way how long it will take yet; a second one does not', async () => {
  const first = await command('sync --json');
  expect(first.code).toBe(0);
  expect(first.json().windows).toMatchObject([{ outcome: 'closed', from: null }]);
  expect(notesOf(first.stderr)).toMatch(estimate);
  expect(notesOf(first.stderr)).toMatch(/^pulling rows: \d+ of \d+, about \d+ seconds? left$/m);
  const counted = clinic.sandbox.clinic.invoices.size;
  expect(first.stderr).toContain(`(${counted} invoices, `);

  const second = await command('sync');
  expect(second.code).toBe(0);
  expect(second.stderr).not.toContain('is the limit');
});

test('a backfill that is stopped goes on where it was, and leaves the live windows’ cursors alone', async () => {
  const before = await cursors();
  await clinic.rows(`delete from mirror_record where kind = 'row'`);
  clinic.sandbox.setFaults({ timeoutMs: { ms: 250, action: 'invoicerow.list' } });
  const asked = listRequests(clinic);
  const stop = new AbortController();
  const stopped = command('backfill --json', stop.signal);
  await waitFor('rows', async () => (await mirrored(clinic, 'row')) >= 3 * onePage);
  stop.abort();
  const { code, json, stderr } = await stopped;
  expect(code).toBe(4);
  expect(notesOf(stderr)).toMatch(estimate);
  expect(json().windows[0].error).toMatchObject({
    code: 'window_cancelled',
    todo: expect.stringContaining('`vetledger backfill` continues from there'),
  });
  expect(await cursors()).toEqual(before);

  const rows = await mirrored(clinic, 'row');
  clinic.sandbox.setFaults({ timeoutMs: null });
  const next = await command('backfill --json');
  expect(next.code).toBe(0);
  const [window] = next.json().windows;
  // The remaining work is what the first backfill left of one list; its other lists were finished.
  const left = /\((\d+) invoices, (\d+) rows, (\d+) payments, (\d+) prepayments to load\)/.exec(next.stderr)!.slice(1);
  const all = clinic.sandbox.clinic.invoiceRows.all().length;
  expect(left.map(Number)).toEqual([0, all - rows, 0, 0]);
  expect(window.seen).toMatchObject({ invoices: 0, payments: 0, prepayments: 0 });
  expect(window.seen.rows).toBeLessThanOrEqual(all - rows + onePage);
  // One count, and the request of the second opening. The first opening's request was the first page.
  const { 'invoice.list': invoices } = listRequests(clinic);
  expect(invoices! - asked['invoice.list']!).toBe(Math.ceil(clinic.sandbox.clinic.invoices.size / onePage) + 1 + 1);

  expect(await cursors()).toEqual(before);
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await clinic.reconcile()).ok).toBe(true);
  // The next backfill starts from the beginning.
  const again = await command('backfill --json');
  expect(again.json().windows[0].seen).toMatchObject({ invoices: clinic.sandbox.clinic.invoices.size, rows: all });
});
