import type { DaemonEvent, WorkflowRun } from '../src/domain/events.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import type { DeliveryReport, WindowInput, WindowOutcome } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { ownWorkflow } from './heartbeat.ts';

/**
 * The events that activities emit (src/domain/events.ts): windows that open, fail to open or end, and slices of
 * deliveries.
 */

type EventSink = Pick<ActivityDeps, 'onEvent'>;

export function emitOpened(
  { onEvent }: EventSink,
  { installation, kind, trigger }: WindowInput,
  window: OpenWindow,
): void {
  const { id, from, to } = window;
  onEvent?.({ event: 'window_opened', installation, window: id, kind, trigger, from, to, ...ownRun() });
}

/** Emits that an attempt opened no window; `window` is the attempt's row. */
export function emitNotOpened(
  { onEvent }: EventSink,
  { installation, window, error }: { installation: number; window: number; error: PlainError },
): void {
  onEvent?.({ event: 'window_not_opened', installation, window, error, ...ownRun() });
}

/** Emits that a window has ended. `run` differs from the own run if another workflow records the end. */
export function emitEnded({ onEvent }: EventSink, report: WindowOutcome, run = ownRun()): void {
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

/** Emits a slice of a delivery, even one without work: it shows that the ERP is reachable. */
export function emitDelivery(
  { onEvent }: EventSink,
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
