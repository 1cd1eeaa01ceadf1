/**
 * What travels between commands, workflows and activities. Only ids, cursors, counts and plain errors: a history never
 * holds a record or personal data.
 */
import type { PlainError } from '../src/domain/errors.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';

export interface WindowInput {
  installation: number;
  /** What started it: `schedule`, `sync`, `dev` or `backfill`. Shown in the Temporal UI and stored in `sync_window`. */
  trigger: string;
  kind: 'window' | 'backfill';
  /** Seconds from opening until the window is cancelled; null for no limit (backfill). */
  windowTimeoutSeconds: number | null;
  /** False where the cluster refused to register our search attributes: using them would fail the workflow task. */
  searchAttributes: boolean;
  /** Backfill only: invoices dated from this day; null for everything. */
  fromDate: string | null;
}

export interface StreamCounts {
  invoices: number;
  rows: number;
  payments: number;
  prepayments: number;
}

export interface ApiUse {
  requests: number;
  weight: number;
  throttled: number;
  waited_seconds: number;
}

/** The counts of one window, as `sync --json` prints them. */
export interface WindowCounts {
  seen: StreamCounts;
  pulled: StreamCounts;
  posted: number;
  held: number;
  delivered: number;
  written_back: number;
  api: ApiUse;
}

export interface WindowOutcome extends WindowCounts {
  installation: number;
  window: number;
  from: string | null;
  to: string;
  outcome: 'closed' | 'failed';
  error?: PlainError;
  /** What the window has to say beside its counts; absent where that is nothing. */
  remarks?: NonNullable<OpenWindow['remarks']>;
}

export interface ScrubInput {
  installation: number;
}

export interface ScrubReport {
  /** `off`: the configuration says so. `elsewhere`: another process scrubs. */
  state: 'off' | 'elsewhere' | 'first load' | 'waiting' | 'reading' | 'finished';
  /** Milliseconds until there is something to do again. */
  pauseMs: number;
}

export interface DeliveryInput {
  installation: number;
  /** As in WindowInput. */
  searchAttributes: boolean;
}

/** What a slice of delivery leaves: the outbox's counts, and what is to happen next. */
export interface DeliveryReport {
  /** Units that this slice settled: delivered, refused, or handed over. */
  settled: number;
  delivered: number;
  refused: number;
  uncertain: number;
  /** Drafts in the ERP that wait for the accountant. */
  drafted: number;
  /** Units that are sent by themselves sooner or later. */
  left: number;
  /** Units that wait for `vetledger deliver --approve`. */
  unapproved: number;
  /** Milliseconds until something is due; 0: now; null: nothing is, until somebody does something. */
  nextDueMs: number | null;
  /** What keeps units from being sent: the ERP is down, somebody has paused the delivery. */
  waitingFor: PlainError | null;
}

/** The signal that there may be due work. It carries nothing: the outbox is the queue. */
export const dueSignalName = 'due';

/** The signal that activities send to their own workflow: Temporal does not wake a workflow for an activity's retries or waits. */
export interface HealthNote {
  health: 'ok' | 'waiting' | 'retrying';
  note: string;
}

export const healthSignalName = 'health';

export const noStreams: StreamCounts = { invoices: 0, rows: 0, payments: 0, prepayments: 0 };

export const noCounts: WindowCounts = {
  seen: noStreams,
  pulled: noStreams,
  posted: 0,
  held: 0,
  delivered: 0,
  written_back: 0,
  api: { requests: 0, weight: 0, throttled: 0, waited_seconds: 0 },
};

/** Failure types by which commands tell how a workflow failed. */
export const failureTypes = {
  /** The window did not open, and nothing has changed; the details hold a PlainError. */
  notOpened: 'window_not_opened',
  /** The window opened and failed, and the next one covers it; the details hold a WindowOutcome. */
  failed: 'window_failed',
} as const;
