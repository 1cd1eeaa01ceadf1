import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { originalTexts } from '../../texts/errors/binding.ts';
import type { HeldBinding, Whereabouts } from './judge.ts';

/**
 * Temporal's side of the binding: the note of a paused Schedule that never starts anything. A Schedule outlives every
 * retention period, and its note explains its purpose in the Temporal UI.
 */

const callTimeoutMs = 10_000;

function bindingId(name: string): string {
  return `binding/${name}`;
}

export async function heldBinding(client: Client, name: string): Promise<HeldBinding | null> {
  try {
    const { state } = await client.withDeadline(Date.now() + callTimeoutMs, () =>
      client.schedule.getHandle(bindingId(name)).describe(),
    );
    const incarnation = /incarnation ([0-9a-f-]{36})/.exec(state.note ?? '')?.[1];
    // A note that a user changed proves nothing. The next start writes the note again.
    return incarnation === undefined ? null : { incarnation };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

export async function holdBinding(
  client: Client,
  name: string,
  incarnation: string,
  { system, database }: Pick<Whereabouts, 'system' | 'database'>,
): Promise<void> {
  const place = { system: system ?? 'unknown', database: database ?? 'unknown' };
  const note = originalTexts.binding({ incarnation, name, ...place });
  await client.withDeadline(Date.now() + callTimeoutMs, async () => {
    try {
      await client.schedule.create({
        scheduleId: bindingId(name),
        spec: {},
        state: { paused: true, note },
        action: {
          type: 'startWorkflow',
          workflowType: 'binding',
          workflowId: bindingId(name),
          taskQueue: 'vetledger-binding',
          // If an operator triggers it by mistake, the workflow ends automatically.
          workflowExecutionTimeout: '1 minute',
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule.getHandle(bindingId(name)).pause(note);
    }
  });
}

/** The id of the configured namespace; null if the server does not return it. */
export async function namespaceId(client: Client): Promise<string | null> {
  const { namespace } = client.options;
  try {
    const described = await client.withDeadline(Date.now() + callTimeoutMs, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
    return described.namespaceInfo?.id ?? null;
  } catch {
    return null;
  }
}
