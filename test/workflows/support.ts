import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClinic } from '../support/clinic.ts';

/** Polls `check` until it returns a value. After `timeoutMs`, throws an error that names `what`. */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`no ${what} within ${timeoutMs} ms`);
    await sleep(50);
  }
}

/** Waits until no activity runs in the clinic's workers, so that no window can send requests to the source. */
export async function activitiesEnded(clinic: TestClinic): Promise<void> {
  await waitFor('end of activities', () =>
    clinic.workers().every((worker) => worker.getStatus().numInFlightActivities === 0),
  );
}

export interface WindowRow {
  id: number;
  trigger: string;
  outcome: 'open' | 'closed' | 'failed';
  error: string | null;
  opened_at: Date;
  closed_at: Date | null;
  workflow_id: string;
  run_id: string;
}

/** The rows of windows, oldest first. */
export function windowRows(clinic: TestClinic): Promise<WindowRow[]> {
  return clinic.rows<WindowRow>(
    `select id, trigger, outcome, error, opened_at, closed_at, workflow_id, run_id from sync_window order by id`,
  );
}

export const openRow = (clinic: TestClinic) =>
  waitFor('open window', async () => (await windowRows(clinic)).find((row) => row.outcome === 'open'));

/** Every SyncHealth in a workflow's history, in order. */
export async function healths(clinic: TestClinic, row: { workflow_id: string; run_id: string }): Promise<string[]> {
  const { events } = await clinic.engine.client.workflow.getHandle(row.workflow_id, row.run_id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const fields = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields;
    const data = fields?.SyncHealth?.data;
    return data ? [JSON.parse(Buffer.from(data).toString()) as string] : [];
  });
}

/** A workflow's details in the Temporal UI. */
export async function detailsOf(
  clinic: TestClinic,
  row: { workflow_id: string; run_id: string | undefined },
): Promise<string> {
  const handle = clinic.engine.client.workflow.getHandle(row.workflow_id, row.run_id);
  const told: unknown = await handle.query('__temporal_workflow_metadata');
  return (told as { currentDetails: string }).currentDetails;
}

/** The summaries of a workflow's activities in the Temporal UI, in order. */
export async function summaries(
  clinic: TestClinic,
  row: { workflow_id: string; run_id: string },
): Promise<(string | null)[]> {
  const { events } = await clinic.engine.client.workflow.getHandle(row.workflow_id, row.run_id).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled, userMetadata }) => {
    if (!scheduled) return [];
    const data = userMetadata?.summary?.data;
    return [data ? (JSON.parse(Buffer.from(data).toString()) as string) : null];
  });
}

/** Documents that were posted twice: with two entries in force, or with more entries than one without a reversal. */
export function postedTwice(clinic: TestClinic): Promise<unknown[]> {
  return clinic.rows(
    `select e.installation, e.kind, e.document_id, count(*) as entries
     from entry e where e.reverses is null and not exists (select from entry r where r.reverses = e.id)
     group by e.installation, e.kind, e.document_id having count(*) > 1`,
  );
}

/** The list requests that the sandbox has granted so far, by action. */
export function listRequests(clinic: TestClinic): Record<string, number> {
  const { byAction } = clinic.sandbox.stats();
  return Object.fromEntries(
    Object.entries(byAction)
      .filter(([action]) => action.endsWith('.list'))
      .map(([action, { requests }]) => [action, requests]),
  );
}

/** The number of records in the mirror, of one kind or of all. */
export async function mirrored(clinic: TestClinic, kind: string | null = null): Promise<number> {
  const [found] = await clinic.rows<{ n: number }>(
    `select count(*) as n from mirror_record where ?::text is null or kind = ?`,
    [kind, kind],
  );
  return Number(found!.n);
}
