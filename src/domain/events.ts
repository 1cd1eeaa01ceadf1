import type { PlainError } from '../texts/plain-error.ts';

/** The services that a daemon, or one of its installations, requires. */
export type Dependency = 'postgres' | 'temporal' | 'practice_api' | 'erp';

/** The run of a workflow, with the names of Temporal. */
export interface WorkflowRun {
  workflow_id: string;
  run_id: string;
}

/** An event of a daemon. `run --json` prints each on one line. */
export type DaemonEvent =
  | ({ event: 'window_opened'; installation: number; window: number; kind: string; trigger: string } & Interval &
      WorkflowRun)
  /** `report` is the window's report as in `sync --json`. */
  | ({ event: 'window_closed' | 'window_failed'; installation: number; window: number; report: object } & WorkflowRun)
  /** `window` is the number of the attempt in table `sync_window`. */
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
  /** Units that this part of a delivery confirmed, and units that the ERP refused. */
  delivered: number;
  refused: number;
  /** Units that will be sent automatically later. */
  left: number;
}

/** An event with the time when it happened. */
export type TimedEvent = DaemonEvent & { time: string };
