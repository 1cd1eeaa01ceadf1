/**
 * What travels between commands, workflows and activities. Only ids, cursors, counts and plain errors: a history never
 * holds a record or personal data.
 */
import type { PlainError } from '../src/domain/errors.ts';

export type { PlainError };

export interface WindowInput {
  installation: number;
  /** `schedule`, `sync`, `dev`, `backfill`: shown in the Temporal UI and in the windows table. */
  trigger: string;
  kind: 'window' | 'backfill';
  /** Seconds after opening when the window is given up; null for none (backfill). */
  windowTimeoutSeconds: number | null;
  /** False where the cluster refused to register our search attributes. */
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

/** The figures of one window, as `sync --json` prints them. */
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
}

/** Sent by activities to their own workflow: an activity's retries and long waits do not wake it by themselves. */
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

/** Error types that the workflow and the commands tell apart. */
export const failureTypes = {
  /** The window never opened: nothing was asked for, nothing changed. */
  notOpened: 'window_not_opened',
  /** The window opened and failed; the next one covers it. */
  failed: 'window_failed',
} as const;
