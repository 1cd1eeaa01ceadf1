import { leaseHolders } from '../db/lanes-at-work.ts';
import type { Connection } from '../db/rows.ts';
import { openWorkflows } from '../sync/sync-windows.ts';
import type { InstallationId } from '../terms.ts';

/** A run of a workflow in Temporal that works on an installation. */
export interface RunningWork {
  /** `window`, `backfill` or `replay`. */
  kind: string;
  workflowId: string;
  runId: string;
}

/**
 * Lanes whose work `cancel` ends, with the kind of work. The scrub is left out: it yields automatically, and continues
 * later.
 */
const kindOfLane: Partial<Record<string, string>> = { live: 'window', backfill: 'backfill', replay: 'replay' };

/**
 * The running work of an installation. Work that is still opening has no row, only a lease. A window whose lease has
 * expired has only a row.
 */
export async function runningWork(db: Connection, installation: InstallationId): Promise<RunningWork[]> {
  const running = new Map<string, RunningWork>();
  for (const open of await openWorkflows(db, installation)) running.set(`${open.workflowId}/${open.runId}`, open);
  for (const { lane, holder } of await leaseHolders(db, installation)) {
    const kind = kindOfLane[lane];
    // A holder is `<workflow id>/<run id>`. Commands that hold a lease without a workflow have names of another form.
    const parts = /^((?:sync-window|backfill|replay)\/.+)\/([0-9a-f-]{36})$/.exec(holder);
    if (!kind || !parts?.[1] || !parts[2] || running.has(holder)) continue;
    running.set(holder, { kind, workflowId: parts[1], runId: parts[2] });
  }
  return [...running.values()];
}
