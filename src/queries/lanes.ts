import { lanesAtWork } from '../db/lanes-at-work.ts';
import type { Lane } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Work that holds a lane of an installation, as `status --json` prints it. */
export interface LaneStatus {
  lane: Lane;
  /** Since when it holds it. */
  since: Date;
  /** False where its process is not heard of any more. */
  alive: boolean;
  /** What it waits for, and since when; null: it goes on, or has waited for less than five seconds. */
  waits_for: string | null;
  waits_since: Date | null;
  /** What it failed with since its last success, and how often. */
  error: PlainError | null;
  attempts: number;
}

/** A window that Temporal has begun, and that no daemon has taken. */
export interface UntakenTick {
  installation: InstallationId;
  workflow_id: string;
  since: Date;
}

/** What is at work for each of these installations, and what it waits for. */
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
