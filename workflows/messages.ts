/**
 * The data that commands, workflows and activities exchange. It holds only ids, cursors, counts and plain errors: a
 * history never holds a record or personal data.
 */
import type { ApiUse } from '../src/domain/api-use.ts';
import type { Span } from '../src/sync/replay/spans.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { workflowTexts } from '../src/texts/temporal.ts';

export interface WindowInput {
  installation: number;
  /**
   * The trigger of the window: `schedule`, `sync`, `dev`, `backfill`, `replay` or `retry`. It is shown in the Temporal
   * UI and stored in `sync_window`.
   */
  trigger: string;
  kind: 'window' | 'backfill' | 'replay';
  /** Seconds from opening until the window is cancelled; null for no limit (backfill). */
  windowTimeoutSeconds: number | null;
  /** False if the cluster refused to register our search attributes: using them would fail the workflow task. */
  searchAttributes: boolean;
  /** Backfill only: reads invoices dated from this day; null for all invoices. */
  fromDate: string | null;
  /**
   * Replay only: the interval to read again. Null if it sends no request and only judges marked documents (`problems
   * retry`).
   */
  span?: Span | null;
}

/**
 * The input of the workflow `replay`, as docs/operators/failures.md describes it: one of `windows`, `failed`, or `from` with
 * `to`.
 */
export interface ReplayRequest {
  installation: number;
  windows?: number[];
  /** Every failed window that no later window covers. */
  failed?: true;
  /** Times of the source in ISO 8601. Without an offset, they are in the installation's time zone. */
  from?: string;
  to?: string;
}

/** The plan of the workflow `replay`, made from its request. */
export interface PlannedReplay {
  installation: number;
  /** `searchAttributes` is as in WindowInput. Each interval has a separate time-out. */
  searchAttributes: boolean;
  spans: { span: Span; timeoutSeconds: number }[];
  /** Texts about failed windows that a replay cannot repeat. */
  leftOut: string[];
}

export interface StreamCounts {
  invoices: number;
  rows: number;
  payments: number;
  prepayments: number;
}

export type { ApiUse };

/** The counts of one window, as `sync --json` prints them. */
export interface WindowCounts {
  seen: StreamCounts;
  pulled: StreamCounts;
  posted: number;
  held: number;
  delivered: number;
  /** Prepayments whose entry id was seen in the source after it was written. */
  written_back: number;
  /** Prepayments whose entry id the source accepted, but has not shown yet; absent if zero. */
  written_back_unconfirmed?: number;
  api: ApiUse;
}

export interface WindowOutcome extends WindowCounts {
  installation: number;
  window: number;
  from: string | null;
  to: string;
  outcome: 'closed' | 'failed';
  error?: PlainError;
  /** Remarks about the window besides its counts; absent if there are none. */
  remarks?: OpenWindow['remarks'];
  /** The end of the books at that time, for `ledger verify --head`; absent if the window did not record its own end. */
  head?: BooksEnd;
}

/** The latest link of the journal's hash chain: its sequence number and its hash. */
export interface BooksEnd {
  seq: number;
  hash: string;
}

/** A window of the Schedule that did not open, because the installation's windows are paused. */
export interface PausedOutcome {
  installation: number;
  outcome: 'paused';
  /** Who paused the windows, and why. */
  message: string;
}

/** One replayed interval; `window` and `to` are null if it did not open. */
export interface ReplayedWindow extends Omit<WindowOutcome, 'window' | 'to'> {
  window: number | null;
  to: string | null;
  /** The ids of the earlier windows whose time this interval reads again. */
  replayed: number[];
  failedToOpen?: PlainError;
}

/** The result of the workflow `replay`. If it fails, the details of its failure hold it. */
export interface ReplayOutcome {
  windows: ReplayedWindow[];
  leftOut: string[];
}

/** The cost of a window as in its row, including failed attempts. */
export interface WindowEnding {
  api: ApiUse;
  head?: BooksEnd;
}

export interface NotOpenedEnding {
  api: ApiUse;
  /** The number of the attempt in `vetledger windows`. */
  window?: number;
}

export interface FailedEnding extends WindowEnding {
  error: PlainError;
}

export interface ScrubInput {
  installation: number;
}

export interface ScrubReport {
  /** `off`: disabled in the configuration. `elsewhere`: another process scrubs. */
  state: 'off' | 'elsewhere' | 'first load' | 'waiting' | 'reading' | 'finished';
  /** Milliseconds until the next slice. */
  pauseMs: number;
}

export interface DeliveryInput {
  installation: number;
  /** `searchAttributes` is as in WindowInput. */
  searchAttributes: boolean;
}

/** The state after a slice of a delivery: the counts of the outbox, and the time until the next slice is due. */
export interface DeliveryReport {
  /** Units that this slice delivered, handed over, or got refused. */
  settled: number;
  delivered: number;
  refused: number;
  uncertain: number;
  /** Drafts in the ERP that the accountant has not posted yet. */
  drafted: number;
  /** Units that are sent automatically sooner or later. */
  left: number;
  /** Units that wait for `vetledger deliver --approve`. */
  unapproved: number;
  /** Milliseconds until the next unit is due. 0 means now. Null means that no unit is due until a user acts. */
  nextDueMs: number | null;
  /** The reason why units are not sent: the ERP is down, or the delivery is paused. */
  waitingFor: PlainError | null;
}

/** The signal that units may be due. It carries no data: the outbox is the queue. */
export const dueSignalName = 'due';

/** Signals that pause and resume a delivery, for use in the Temporal UI. `vetledger pause --delivery` does the same. */
export const holdSignalNames = { pause: 'pause', resume: 'resume' } as const;

/** The data of these signals: the user's name and reason. */
export interface HoldNote {
  reason: string;
  by: string;
}

/** The content of such a signal, with default texts for missing parts; null if the input is not valid. */
export function holdNoteOf(value: unknown): HoldNote | null {
  if (value === undefined || value === null) return { reason: noReason, by: userOfTemporal };
  if (typeof value === 'string') return { reason: value.trim().slice(0, longestNote) || noReason, by: userOfTemporal };
  if (typeof value !== 'object' || Array.isArray(value)) return null;
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const [key, text] of fields) if (!holdKeys.has(key) || typeof text !== 'string') return null;
  const textOf = (key: string) => (fields.get(key) as string | undefined)?.trim().slice(0, longestNote);
  return { reason: textOf('reason') || noReason, by: textOf('by') || userOfTemporal };
}

const holdKeys: ReadonlySet<string> = new Set(['reason', 'by'] satisfies (keyof HoldNote)[]);

const { noReason, userOfTemporal } = workflowTexts;
const longestNote = 500;

/**
 * The signal that activities send to their own workflow. It is needed because Temporal does not inform a workflow of an
 * activity's retries or waits.
 */
export interface HealthNote {
  health: 'ok' | 'waiting' | 'retrying';
  note: string;
}

export const healthSignalName = 'health';

export const noStreams: StreamCounts = { invoices: 0, rows: 0, payments: 0, prepayments: 0 };

export const noUse: ApiUse = { requests: 0, weight: 0, throttled: 0, waited_seconds: 0 };

export function addUse(a: ApiUse, b: ApiUse): ApiUse {
  return {
    requests: a.requests + b.requests,
    weight: a.weight + b.weight,
    throttled: a.throttled + b.throttled,
    waited_seconds: Math.round((a.waited_seconds + b.waited_seconds) * 1000) / 1000,
  };
}

export const noCounts: WindowCounts = {
  seen: noStreams,
  pulled: noStreams,
  posted: 0,
  held: 0,
  delivered: 0,
  written_back: 0,
  api: noUse,
};

const countOf = { invoice: 'invoices', row: 'rows', payment: 'payments', prepayment: 'prepayments' } as const;

/** Adds the records that a pull received. */
export function addReport(
  counts: WindowCounts,
  report: { streams: { stream: keyof typeof countOf; seen: number; pulled: number }[]; api: ApiUse },
): WindowCounts {
  const seen = { ...counts.seen };
  const pulled = { ...counts.pulled };
  for (const stream of report.streams) {
    seen[countOf[stream.stream]] += stream.seen;
    pulled[countOf[stream.stream]] += stream.pulled;
  }
  return { ...counts, seen, pulled, api: addUse(counts.api, report.api) };
}

/**
 * Seconds after which Temporal ends a window's run that has not ended, because its task fails or no worker takes it. It
 * covers the wait for another window (its time-out and two minutes), the window's own time-out, and some minutes to
 * end.
 */
export function runTimeoutSeconds(windowTimeoutSeconds: number): number {
  return 2 * windowTimeoutSeconds + 900;
}

/** The run time-out of a first load, whose length is not known. If Temporal ends it, the next window continues it. */
export const firstLoadRunTimeout = '7 days';

/** The run time-outs of a delivery and of a scrub. Both begin a new run after `renewedAfterMs`. */
export const longRuns = {
  deliver: { renewedAfterMs: 3_600_000, runTimeout: '3 hours' },
  scrub: { renewedAfterMs: 28_800_000, runTimeout: '1 day' },
} as const;

/** Failure types by which commands recognise how a workflow failed. */
export const failureTypes = {
  /** The window did not open, and nothing has changed. The details hold a PlainError. */
  notOpened: 'window_not_opened',
  /** The window did not open because the installation's windows are paused. The workflow ends without a failure. */
  paused: 'windows_paused',
  /** Nothing was loaded before: the run continues as the workflow `firstLoad`. */
  firstLoad: 'first_load',
  /** The window opened and failed; the next one covers it. The details hold a WindowOutcome. */
  failed: 'window_failed',
  /** The workflow was started with an invalid input. The details hold a PlainError. */
  inputInvalid: 'input_invalid',
} as const;
