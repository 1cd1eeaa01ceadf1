import type { DaemonEvent, WorkflowRun } from '../src/domain/events.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import type { DeliveryReport, WindowInput, WindowOutcome } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { ownWorkflow } from './heartbeat.ts';

/** What activities tell of as it happens (src/domain/events.ts): windows that open, do not open and end, and slices of deliveries. */

type Told = Pick<ActivityDeps, 'onEvent'>;

export function tellOpened({ onEvent }: Told, { installation, kind, trigger }: WindowInput, window: OpenWindow): void {
  const { id, from, to } = window;
  onEvent?.({ event: 'window_opened', installation, window: id, kind, trigger, from, to, ...ownRun() });
}

/** Tells of an attempt to open a window that opened none; `window` is its row. */
export function tellNotOpened(
  { onEvent }: Told,
  { installation, window, error }: { installation: number; window: number; error: PlainError },
): void {
  onEvent?.({ event: 'window_not_opened', installation, window, error, ...ownRun() });
}

/** Tells of a window that has ended; `run` is its workflow's, where another one notes its end. */
export function tellEnded({ onEvent }: Told, report: WindowOutcome, run = ownRun()): void {
  onEvent?.(endedEvent(report, run));
}

export function endedEvent(report: WindowOutcome, run: WorkflowRun): DaemonEvent {
  const { installation, window, outcome } = report;
  return {
    event: outcome === 'closed' ? 'window_closed' : 'window_failed',
    ...{ installation, window, report },
    ...run,
  };
}

/** Tells of a slice of a delivery, also of one that had nothing to do: it shows that the ERP can be worked with. */
export function tellDelivery(
  { onEvent }: Told,
  installation: number,
  { left, waitingFor }: DeliveryReport,
  { delivered, refused }: { delivered: number; refused: number },
): void {
  onEvent?.({ event: 'delivery', installation, delivered, refused, left, error: waitingFor, ...ownRun() });
}

function ownRun(): WorkflowRun {
  const { workflowId, runId } = ownWorkflow();
  return { workflow_id: workflowId, run_id: runId };
}
