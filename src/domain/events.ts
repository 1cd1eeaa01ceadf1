import type { PlainError } from '../texts/plain-error.ts';

/** The services that a daemon cannot work without, or one of its installations cannot. */
export type Dependency = 'postgres' | 'temporal' | 'practice_api' | 'erp';

/** The run of a workflow, as Temporal names it. */
export interface WorkflowRun {
  workflow_id: string;
  run_id: string;
}

/** What a daemon tells as it happens: `run --json` prints each on a line of its own. */
export type DaemonEvent =
  | ({ event: 'window_opened'; installation: number; window: number; kind: string; trigger: string } & Interval &
      WorkflowRun)
  /** `report` is what `sync --json` has of the window. */
  | ({ event: 'window_closed' | 'window_failed'; installation: number; window: number; report: object } & WorkflowRun)
  /** `window` is the row of the attempt. */
  | ({ event: 'window_not_opened'; installation: number; window: number; error: PlainError } & WorkflowRun)
  | ({ event: 'delivery'; installation: number; error: PlainError | null } & DeliveryFigures & WorkflowRun)
  | { event: 'outage'; dependency: Dependency; installation: number | null; error: PlainError }
  | { event: 'recovery'; dependency: Dependency; installation: number | null; seconds: number }
  | { event: 'paused' | 'resumed'; installation: number; what: 'windows' | 'delivery'; by: string; reason: string };

interface Interval {
  from: string | null;
  to: string | null;
}

interface DeliveryFigures {
  /** Units that were confirmed by this slice of a delivery, and those that were refused. */
  delivered: number;
  refused: number;
  /** Units that are sent by themselves later. */
  left: number;
}

/** An event with the time when it happened. */
export type TimedEvent = DaemonEvent & { time: string };
