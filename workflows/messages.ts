/**
 * What travels between commands, workflows and activities. Only ids, cursors, counts and plain errors: a history never
 * holds a record or personal data.
 */
import type { ApiUse } from '../src/domain/api-use.ts';
import type { Span } from '../src/sync/replay/spans.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';

export interface WindowInput {
  installation: number;
  /** What started it: `schedule`, `sync`, `dev`, `backfill`, `replay` or `retry`. Shown in the Temporal UI and stored in `sync_window`. */
  trigger: string;
  kind: 'window' | 'backfill' | 'replay';
  /** Seconds from opening until the window is cancelled; null for no limit (backfill). */
  windowTimeoutSeconds: number | null;
  /** False where the cluster refused to register our search attributes: using them would fail the workflow task. */
  searchAttributes: boolean;
  /** Backfill only: invoices dated from this day; null for everything. */
  fromDate: string | null;
  /** Replay only: what it reads again. Null: it asks the source nothing, and judges what was marked (`problems retry`). */
  span?: Span | null;
}

/** The input of the workflow `replay`, as docs/OPERATIONS.md tells it: one of `windows`, `failed`, and `from` with `to`. */
export interface ReplayRequest {
  installation: number;
  windows?: number[];
  /** Every failed window that nothing covers yet. */
  failed?: true;
  /** Times of the source: ISO 8601, without an offset in the installation's time zone. */
  from?: string;
  to?: string;
}

/** What the workflow `replay` is to do, planned from its request. */
export interface PlannedReplay {
  installation: number;
  /** As in WindowInput; each span has its own time-out. */
  searchAttributes: boolean;
  spans: { span: Span; timeoutSeconds: number }[];
  /** Failed windows that a replay cannot repeat, in words. */
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
  /** Prepayments whose entry id a read after its write has shown. */
  written_back: number;
  /** Prepayments whose entry id the source has accepted, and that no later read has shown; absent where there is none. */
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
  /** What the window has to say beside its counts; absent where that is nothing. */
  remarks?: OpenWindow['remarks'];
  /** Where the books ended then, for `ledger verify --head`; absent where the window did not note its end itself. */
  head?: BooksEnd;
}

/** The latest link of the journal's chain, by its place and its hash. */
export interface BooksEnd {
  seq: number;
  hash: string;
}

/** A window of the schedule that did not open, because the installation's windows are paused. */
export interface PausedOutcome {
  installation: number;
  outcome: 'paused';
  /** Who has paused them, and why. */
  message: string;
}

/** One interval that was replayed; `window` and `to` are null where it did not open. */
export interface ReplayedWindow extends Omit<WindowOutcome, 'window' | 'to'> {
  window: number | null;
  to: string | null;
  /** The windows that it repeats. */
  replayed: number[];
  failedToOpen?: PlainError;
}

/** What the workflow `replay` returns, or holds in the details of its failure. */
export interface ReplayOutcome {
  windows: ReplayedWindow[];
  leftOut: string[];
}

/** What a window has cost, as its row tells: with its failed attempts. */
export interface WindowEnding {
  api: ApiUse;
  head?: BooksEnd;
}

/** An attempt that opened no window. */
export interface NotOpenedEnding {
  api: ApiUse;
  /** Its number in `vetledger windows`. */
  window?: number;
}

export interface FailedEnding extends WindowEnding {
  error: PlainError;
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

/** Signals that pause and resume a delivery, for use in Temporal; `vetledger pause --delivery` does the same. */
export const holdSignalNames = { pause: 'pause', resume: 'resume' } as const;

/** What they carry: who does it, and why. */
export interface HoldNote {
  reason: string;
  by: string;
}

/** What somebody has written into such a signal, with words for what is missing; null where it is nothing of the kind. */
export function holdNoteOf(value: unknown): HoldNote | null {
  if (value === undefined || value === null) return { reason: noReason, by: someone };
  if (typeof value === 'string') return { reason: value.trim().slice(0, longestNote) || noReason, by: someone };
  if (typeof value !== 'object' || Array.isArray(value)) return null;
  const said = new Map<string, unknown>(Object.entries(value));
  for (const [key, text] of said) if (!holdKeys.has(key) || typeof text !== 'string') return null;
  const textOf = (key: string) => (said.get(key) as string | undefined)?.trim().slice(0, longestNote);
  return { reason: textOf('reason') || noReason, by: textOf('by') || someone };
}

const holdKeys: ReadonlySet<string> = new Set(['reason', 'by'] satisfies (keyof HoldNote)[]);

const noReason = 'no reason was given';
const someone = 'somebody in Temporal';
const longestNote = 500;

/** The signal that activities send to their own workflow: Temporal does not wake a workflow for an activity's retries or waits. */
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

/** Counts with what a pull has received. */
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
 * After so many seconds Temporal ends the run of a window that has not ended by itself, because its task fails or no worker takes it. A
 * window waits for another one as long as its own time-out and two minutes, then takes its own time-out, and ends within minutes.
 */
export function runTimeoutSeconds(windowTimeoutSeconds: number): number {
  return 2 * windowTimeoutSeconds + 900;
}

/** The same of a first load, which takes as long as it takes. One that Temporal ends goes on where it was, with the next window. */
export const firstLoadRunTimeout = '7 days';

/** The same of a delivery and of a scrub, which begin a new run after a part of it. */
export const longRuns = {
  deliver: { renewedAfterMs: 3_600_000, runTimeout: '3 hours' },
  scrub: { renewedAfterMs: 28_800_000, runTimeout: '1 day' },
} as const;

/** Failure types by which commands tell how a workflow failed. */
export const failureTypes = {
  /** The window did not open, and nothing has changed; the details hold a PlainError. */
  notOpened: 'window_not_opened',
  /** The window did not open, because the installation's windows are paused: it ends without a failure. */
  paused: 'windows_paused',
  /** Everything has to be read first: the run goes on as the workflow `firstLoad`. */
  firstLoad: 'first_load',
  /** The window opened and failed, and the next one covers it; the details hold a WindowOutcome. */
  failed: 'window_failed',
  /** The workflow was started with an input that is none; the details hold a PlainError. */
  inputInvalid: 'input_invalid',
} as const;
