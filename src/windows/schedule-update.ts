/**
 * Changes of Schedules that undo no change of somebody else. The SDK reads a Schedule and writes it whole without saying what it has
 * read, so that a pause made in between would be gone (temporalio/sdk-typescript#1967).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  ScheduleClient,
  type ScheduleDescription,
  type ScheduleUpdateOptions,
  ServiceError,
  type WorkflowService,
} from '@temporalio/client';

/** gRPC's FAILED_PRECONDITION: newer servers answer so where the Schedule has changed since it was read. */
const failedPrecondition = 9;
/** Somebody else changes a Schedule once, or twice, and not again and again. */
const attemptsAtMost = 5;
/** A server may take a moment until it shows what it was told. */
const shownAfterMs = 100;
const lookedAtMost = 50;

/** A client whose updates hold only for the Schedule as it was read. */
class ConditionalSchedules extends ScheduleClient {
  conflictToken: Uint8Array | null = null;

  override get workflowService(): WorkflowService {
    const service = super.workflowService;
    const { conflictToken } = this;
    const updateSchedule = (request: Parameters<WorkflowService['updateSchedule']>[0]) =>
      service.updateSchedule({ ...request, conflictToken });
    return Object.create(service, { updateSchedule: { value: updateSchedule } });
  }
}

/**
 * Changes a Schedule by what it is now. `change` is called anew where somebody else has changed the Schedule meanwhile, and gives up
 * by null; whether it was changed. Throws where others change it again and again, and as the SDK does.
 */
export async function updateSchedule(
  { connection, options: { namespace, identity, dataConverter } }: Client,
  scheduleId: string,
  change: (now: ScheduleDescription) => ScheduleUpdateOptions | null,
): Promise<boolean> {
  const schedules = new ConditionalSchedules({ connection, namespace, identity, dataConverter });
  const handle = schedules.getHandle(scheduleId);
  for (let attempt = 0; attempt < attemptsAtMost; attempt++) {
    const read = await handle.describe();
    const changed = change(read);
    if (changed === null) return false;
    schedules.conflictToken = read.raw.conflictToken ?? null;
    try {
      await handle.update(() => changed);
    } catch (error) {
      if (isConflict(error)) continue;
      throw error;
    }
    if (await isApplied(handle, read)) return true;
  }
  throw new Error(
    `the schedule ${scheduleId} was changed by somebody else ${attemptsAtMost} times while it was to be updated`,
  );
}

function isConflict(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === failedPrecondition;
}

/** Older servers answer nothing where they drop an update: its time tells, once the server shows that anything has changed. */
async function isApplied(
  handle: { describe(): Promise<ScheduleDescription> },
  read: ScheduleDescription,
): Promise<boolean> {
  for (let looked = 0; looked < lookedAtMost; looked++) {
    const { raw, info } = await handle.describe();
    if (info.lastUpdatedAt?.getTime() !== read.info.lastUpdatedAt?.getTime()) return true;
    if (Buffer.compare(raw.conflictToken ?? Buffer.of(), read.raw.conflictToken ?? Buffer.of()) !== 0) return false;
    await sleep(shownAfterMs);
  }
  return false;
}
