import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { companyKeyOf } from '../../src/erp/company.ts';
import type { SliceReport } from '../../src/erp/deliver/slice.ts';
import type { Delivery, SlicePorts } from '../../src/erp/delivery.ts';
import { pauseDelivery } from '../../src/erp/outbox/state.ts';
import { deliveryStatus } from '../../src/queries/delivery-status.ts';
import { deliveryId, isDelivering } from '../../src/runtime/request-deliveries.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { waitForDeliveries } from '../../src/windows/wait-for-deliveries.ts';
import { leftText } from '../../src/wording/delivery.ts';
import { timeIn } from '../../src/wording/words.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { healths, waitFor } from './support.ts';

const never = new AbortController().signal;
const idle: SliceReport = { delivered: 0, refused: 0, uncertain: 0, left: 0, nextDueMs: null, waitingFor: null };

let clinic: TestClinic;
/** The behaviour of the next slices; the default delivers everything. */
let onSlice: (ports: SlicePorts) => Promise<SliceReport>;
let slices = 0;

const noTarget = () => {
  throw new Error('no delivery of these tests asks for it');
};

/** Delivery to an ERP that accepts everything at once, unless a test changes that. */
const delivery: Delivery = {
  enqueue: async ({ id }) =>
    (
      await clinic.rows(
        `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company)
         select installation, id, 'entry', seq, entry_date, md5(id), 'test' from entry where installation = ?
         on conflict do nothing returning 1`,
        [id],
      )
    ).length,
  foreign: async () => ({ error: null, isComplete: true }),
  target: noTarget,
  capabilities: noTarget,
  slice: (ports) => {
    slices += 1;
    return onSlice(ports);
  },
  matchItems: async () => ({ matched: 0, nextDueMs: null }),
  close: async () => undefined,
};

async function deliverAll({ installation: { id } }: SlicePorts): Promise<SliceReport> {
  const done = await clinic.rows(
    `update erp_unit set state = 'delivered', settled_at = clock_timestamp()
     where installation = ? and state = 'pending' and not needs_approval returning 1`,
    [id],
  );
  return { ...idle, delivered: done.length };
}

const down: SliceReport = {
  ...idle,
  nextDueMs: 60_000,
  waitingFor: { code: 'erp_unreachable', message: 'the ERP does not answer', todo: 'Start it.' },
};

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 71, invoices: 40, settings: { erp: '{kind: csv}' }, delivery });
});
afterAll(() => clinic.stop());
beforeEach(() => {
  onSlice = deliverAll;
});

const undelivered = async () =>
  (await clinic.rows<{ unit_id: string }>(`select unit_id from erp_unit where state <> 'delivered'`)).map(
    ({ unit_id }) => unit_id,
  );

/** Adds a unit to the outbox, as if a process had died before it requested its delivery. */
async function addUnit(id: string, needsApproval = false): Promise<void> {
  await clinic.rows(
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, needs_approval)
     values (4711, ?, 'entry', 0, '2026-01-31', md5(?), 'test', ?)`,
    [id, id, needsApproval],
  );
}

const described = () => clinic.engine.client.workflow.getHandle(deliveryId(clinic.app, 4711)).describe();
const ended = () =>
  waitFor('end of the delivery', async () => !(await isDelivering(clinic.app, clinic.engine.client, 4711)));

/** The Markdown of the delivery in the Temporal UI. */
async function details(): Promise<string> {
  const { client } = clinic.engine;
  const execution = { workflowId: deliveryId(clinic.app, 4711) };
  const { userMetadata } = (await described()).raw.executionConfig ?? {};
  expect(userMetadata?.summary).toBeDefined();
  const queried = await client.workflowService.queryWorkflow({
    namespace: clinic.app.temporal!.namespace,
    execution,
    query: { queryType: '__temporal_workflow_metadata' },
  });
  const metadata = JSON.parse(Buffer.from(queried.queryResult!.payloads![0]!.data!).toString()) as {
    currentDetails?: string;
  };
  return metadata.currentDetails ?? '';
}

test('what a window posts is delivered by a separate workflow, which ends when nothing is due', async () => {
  const window = await clinic.sync();
  expect(window).toMatchObject({ outcome: 'closed' });
  expect(window.posted).toBeGreaterThan(0);
  await ended();
  expect(await undelivered()).toEqual([]);
  const [counted] = await clinic.rows<{ n: number }>('select count(*)::int as n from erp_unit');
  expect(counted!.n).toBe(window.posted);
  const { status, taskQueue, searchAttributes, workflowId, runId } = await described();
  expect(status.name).toBe('COMPLETED');
  expect(taskQueue).toBe(clinic.engine.deliveryQueue);
  expect(taskQueue).not.toBe(clinic.engine.taskQueue);
  expect(searchAttributes).toMatchObject({ Installation: ['4711'], SyncHealth: ['ok'] });
  expect(await healths(clinic, { workflow_id: workflowId, run_id: runId })).toEqual(['ok']);
  const text = await details();
  expect(text).toContain('Delivery of installation 4711');
  expect(text).toContain(`| ${window.posted} | 0 | 0 | 0 | 0 | 0 |`);
});

test('a window that posts nothing begins no delivery; a backfill that does begins one', async () => {
  const before = slices;
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', posted: 0 });
  expect(slices).toBe(before);
  clinic.sandbox.live(20);
  const report = await runWindowNow(clinic.app, clinic.engine, 4711, { trigger: 'backfill', signal: never });
  expect(report).toMatchObject({ outcome: 'closed' });
  expect(report.posted).toBeGreaterThan(0);
  await ended();
  expect(slices).toBeGreaterThan(before);
  expect(await undelivered()).toEqual([]);
});

test('an ERP that is down neither lengthens nor fails a window, and shows in Temporal; when it is back, the backlog drains', async () => {
  onSlice = async () => down;
  for (let n = 0; n < 2; n++) {
    clinic.sandbox.live(10);
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  }
  const waiting = await waitFor('waiting delivery', async () => {
    const { searchAttributes, status } = await described();
    return status.name === 'RUNNING' && String(searchAttributes.SyncHealth) === 'waiting';
  });
  expect(waiting).toBe(true);
  expect(await details()).toContain('Waiting: the ERP does not answer What to do: Start it.');
  expect(await undelivered()).not.toEqual([]);
  expect(await waitForDeliveries(clinic.app, clinic.engine, [4711], { seconds: 0.2, signal: never })).toEqual([4711]);
  onSlice = deliverAll;
  await clinic.engine.requestDelivery(4711);
  expect(await waitForDeliveries(clinic.app, clinic.engine, [4711], { seconds: 20, signal: never })).toEqual([]);
  expect(await undelivered()).toEqual([]);
});

test('until what was sent may be looked up, an error of before is no reason to give up; afterwards it is', async () => {
  const company = companyKeyOf(clinic.app.config.installations[0]!.erp)!;
  onSlice = async () => down;
  await addUnit('4711/invoice/980/1');
  await clinic.rows(
    `insert into erp_company (company, kind, name, last_error_code, last_error_message, last_error_at, look_up_from)
     values (?, 'csv', '', 'erp_unreachable', 'an old error', now() - interval '1 hour', clock_timestamp() + interval '3 seconds')`,
    [company],
  );
  await clinic.rows(`update erp_unit set state = 'sending' where unit_id = '4711/invoice/980/1'`);
  await clinic.engine.requestDelivery(4711);
  const beganMs = performance.now();
  const wait = { seconds: null, stuckSeconds: 1, signal: never };
  expect(await waitForDeliveries(clinic.app, clinic.engine, [4711], wait)).toEqual([4711]);
  expect(performance.now() - beganMs).toBeGreaterThan(3_500);
  const status = await deliveryStatus(clinic.app.db, clinic.app.config.installations[0]!);
  expect(status).toMatchObject({ in_doubt: 1, looks_up_at: expect.any(Date) });
  expect(leftText(status!, timeIn('UTC'))).toMatch(/1 entry sent by a delivery that ended without an answer/);
  expect(leftText(status!, timeIn('UTC'))).not.toContain('an old error');
  await clinic.rows(`delete from erp_company`);
  await clinic.rows(`update erp_unit set state = 'pending' where unit_id = '4711/invoice/980/1'`);
  onSlice = deliverAll;
  await clinic.engine.requestDelivery(4711);
  expect(await waitForDeliveries(clinic.app, clinic.engine, [4711], { seconds: 20, signal: never })).toEqual([]);
});

test('an ERP that does not answer at all occupies no place of a window', async () => {
  let isStopped = false;
  onSlice = ({ signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        isStopped = true;
        reject(signal.reason);
      }),
    );
  clinic.sandbox.live(10);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  clinic.sandbox.live(10);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  // The operator cancels the delivery in Temporal: its slice stops, and the next request starts another one.
  await clinic.engine.client.workflow.getHandle(deliveryId(clinic.app, 4711)).cancel();
  await ended();
  expect(isStopped).toBe(true);
  expect((await described()).status.name).toBe('CANCELLED');
  onSlice = deliverAll;
  await clinic.engine.requestDelivery(4711);
  await ended();
  expect(await undelivered()).toEqual([]);
});

test('a slice that fails is tried again after a pause, and the delivery shows it', async () => {
  await addUnit('failing');
  onSlice = async () => {
    onSlice = deliverAll;
    throw new Error('the slice broke');
  };
  await clinic.engine.requestDelivery(4711);
  await ended();
  const { workflowId, runId } = await described();
  expect(await healths(clinic, { workflow_id: workflowId, run_id: runId })).toEqual(['ok', 'retrying', 'ok']);
  expect(await undelivered()).toEqual([]);
});

test('a request at the moment of completion is not lost', async () => {
  for (let round = 0; round < 24; round++) {
    const late: Promise<void>[] = [];
    onSlice = async (ports) => {
      const report = await deliverAll(ports);
      onSlice = deliverAll;
      // The requests are spread from before the slice's answer until after the workflow's end.
      late.push(
        sleep(round * 2).then(async () => {
          await addUnit(`late ${round}`);
          await clinic.engine.requestDelivery(4711);
        }),
      );
      return report;
    };
    await addUnit(`early ${round}`);
    await clinic.engine.requestDelivery(4711);
    await waitFor('first slice', () => late.length > 0);
    await Promise.all(late);
    await waitFor('delivery of both', async () => (await undelivered()).length === 0);
  }
  await ended();
}, 60_000);

describe('a daemon', () => {
  async function withDaemon(work: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const app = { ...clinic.app, config: { ...clinic.app.config, schedule: { everySeconds: 3600 } } };
    const daemon = runDaemon(app, { signal: stop.signal, deliveriesEveryMs: 500 });
    try {
      await Promise.race([work(), daemon]);
    } finally {
      stop.abort();
      await daemon;
      await clinic.engine.client.schedule.getHandle(`sync-window/4711-${clinic.app.databaseId}`).delete();
    }
  }

  test('begins at its start the delivery of what a crash left without a request, and again and again', async () => {
    await addUnit('left by a crash');
    await withDaemon(async () => {
      await waitFor('delivery', async () => (await undelivered()).length === 0);
      await addUnit('left by another crash');
      await waitFor('delivery', async () => (await undelivered()).length === 0);
    });
  });
});

test('a pause while no delivery is under way holds the next one, which ends and waits for nothing', async () => {
  const by = { actedBy: 'M. Virtanen', reason: 'closing the year' };
  await clinic.app.db.transaction((trx) => pauseDelivery(trx, 4711, by));
  await addUnit('paused');
  const before = slices;
  await clinic.engine.requestDelivery(4711);
  await ended();
  expect(slices).toBe(before);
  expect(await undelivered()).toEqual(['paused']);
  expect((await described()).searchAttributes).toMatchObject({ SyncHealth: ['held'] });
  expect(await details()).toContain('paused by M. Virtanen: closing the year');
  // Windows continue during the delivery.
  clinic.sandbox.live(5);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  await clinic.rows('delete from erp_pause');
  await clinic.engine.requestDelivery(4711);
  await ended();
  expect(await undelivered()).toEqual([]);
});

test('what waits for approval begins no delivery, and shows as held', async () => {
  await addUnit('unapproved', true);
  await clinic.sync();
  await clinic.engine.requestDelivery(4711);
  await ended();
  expect(await undelivered()).toEqual(['unapproved']);
  expect((await described()).searchAttributes).toMatchObject({ SyncHealth: ['held'] });
  expect(await details()).toContain('deliver --approve');
});
