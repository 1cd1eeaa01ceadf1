import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowInput } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { detailsOf, waitFor } from './support.ts';

const installation = 4711;
let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 91, invoices: 5 });
});
afterAll(() => clinic.stop());

let started = 0;
const start = (type: string, ...args: unknown[]) => {
  started += 1;
  const workflowId = `${type}/${installation}-${clinic.app.databaseId}/inputs-${started}`;
  return clinic.engine.client.workflow.start(type, { taskQueue: clinic.engine.taskQueue, workflowId, args });
};

const input = () =>
  windowInput(clinic.app, clinic.engine, { installation, kind: 'window', trigger: 'test', fromDate: null });
const span = { windows: [], invoice: {}, prepayment: {}, row: {}, payment: {} };

test.each<[string, string, () => unknown[], string]>([
  ['no input', 'syncWindow', () => [], 'it is not an object'],
  ['text', 'syncWindow', () => ['4711'], 'it is not an object'],
  ['null', 'backfill', () => [null], 'it is not an object'],
  ['a list', 'deliver', () => [[]], 'it is not an object'],
  ['nothing in it', 'scrub', () => [{}], 'installation'],
  ['a wrong installation', 'deliver', () => [{ installation: '4711', searchAttributes: true }], 'installation'],
  ['another kind', 'backfill', () => [input()], 'kind'],
  ['no time-out', 'syncWindow', () => [{ ...input(), windowTimeoutSeconds: 0 }], 'windowTimeoutSeconds'],
  ['no day', 'syncWindow', () => [{ ...input(), fromDate: '2026-13-45' }], 'fromDate'],
  ['a replay of nothing', 'replayWindow', () => [{ ...input(), kind: 'replay' }], 'span'],
  [
    'a replay of half a span',
    'replayWindow',
    () => [{ ...input(), kind: 'replay', span: { ...span, row: null } }],
    'span',
  ],
])('%s: %s ends at once, and nothing was done', async (_name, type, args, wrong) => {
  const handle = await start(type, ...args());
  const failure = await handle.result().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause).toMatchObject({
    type: 'input_invalid',
    nonRetryable: true,
    message: expect.stringMatching(new RegExp(`is wrong: ${wrong}\\.$`)),
  });
  const { events } = await handle.fetchHistory();
  expect(events!.some((event) => event.activityTaskScheduledEventAttributes)).toBe(false);
  expect(events!.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false);
});

test('a replay without input is refused by its plan', async () => {
  const handle = await start('replay');
  const failure = await handle.result().catch((error: unknown) => error);
  expect((failure as WorkflowFailedError).cause).toMatchObject({ type: 'window_not_opened', nonRetryable: true });
});

test('signals that are none are ignored, and the details say so', async () => {
  clinic.sandbox.setFaults({ timeoutMs: { ms: 400 } });
  const handle = await start('syncWindow', input());
  const bad: unknown[][] = [[], [null], ['ok'], [{}], [{ health: 'failed', note: '' }], [{ health: 'ok', note: 4 }]];
  bad.push([[{ health: 'ok', note: '' }]]);
  for (const args of bad) await handle.signal('health', ...args);
  const run = { workflow_id: handle.workflowId, run_id: undefined };
  await waitFor('the note', async () => (await detailsOf(clinic, run)).includes('A signal `health` was ignored'));
  clinic.sandbox.setFaults({ timeoutMs: null });
  expect(await handle.result()).toMatchObject({ outcome: 'closed' });
  const { events } = await handle.fetchHistory();
  expect(events!.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false);
});
