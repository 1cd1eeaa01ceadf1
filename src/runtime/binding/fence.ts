import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { originalTexts } from '../../texts/errors/binding.ts';
import type { App } from '../app.ts';
import { holdBinding } from './held.ts';

const callTimeoutMs = 10_000;
/** Limit of terminated workflows. Further workflows wait for workers that never come, and do no harm. */
const endedAtMost = 2_000;

/**
 * Keeps the original of a restored database from starting again, and puts aside its schedules and workflows in
 * Temporal. Returns a line for each that could not be put aside.
 */
export async function fenceOriginal(
  { temporalName }: Pick<App, 'temporalName'>,
  client: Client,
  newName: string,
): Promise<string[]> {
  // The original does not know this incarnation, so it will refuse to start.
  await holdBinding(client, temporalName, randomUUID(), {
    system: originalTexts.replacedBy({ name: newName }),
    database: '',
  });
  const left: string[] = [];
  const tidy = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      left.push(`${what} (${error instanceof Error ? error.message : String(error)})`);
    }
  };
  const ours = new RegExp(`^[a-z-]+/\\d+-${temporalName}(-|/|$)`);
  const reason = originalTexts.restoredAs({ name: newName });
  await tidy(originalTexts.schedules, async () => {
    for await (const { scheduleId } of client.schedule.list()) {
      if (!ours.test(scheduleId)) continue;
      await client.withDeadline(Date.now() + callTimeoutMs, () => client.schedule.getHandle(scheduleId).pause(reason));
    }
  });
  await tidy(originalTexts.workflows, async () => {
    let ended = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
      if (!ours.test(workflowId)) continue;
      await client.workflow.getHandle(workflowId, runId).terminate(reason);
      ended += 1;
      if (ended >= endedAtMost) return;
    }
  });
  return left;
}
