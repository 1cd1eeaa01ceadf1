import { lanesAtWork } from '../db/lanes-at-work.ts';
import type { Lane } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Work that holds a lane of an installation, as `status --json` prints it. */
export interface LaneStatus {
  lane: Lane;
  since: Date;
  /** False if the process that does the work no longer responds. */
  alive: boolean;
  /** What the work waits for, and since when. Null if the work is not waiting, or has waited less than five seconds. */
  waits_for: string | null;
  waits_since: Date | null;
  /** The error of the work since the last success, and the number of failures. */
  error: PlainError | null;
  attempts: number;
}

/** A window that Temporal has started, and that no daemon has taken. */
export interface UntakenTick {
  installation: InstallationId;
  workflow_id: string;
  since: Date;
}

/** The running work of each of these installations, and what it waits for. */
export async function laneStatuses(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, LaneStatus[]>> {
  const found = new Map<InstallationId, LaneStatus[]>();
  for (const { installation, lane, takenAt, isAlive, waitsFor, waitsSince, trouble } of await lanesAtWork(
    db,
    installations,
  )) {
    const status: LaneStatus = {
      ...{ lane, since: takenAt, alive: isAlive, waits_for: waitsFor, waits_since: waitsSince },
      ...{ error: trouble?.error ?? null, attempts: trouble?.times ?? 0 },
    };
    found.set(installation, [...(found.get(installation) ?? []), status]);
  }
  return found;
}
