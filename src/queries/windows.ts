import { bool, instant, integer, json, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import type { PlainError } from '../domain/errors.ts';
import type { InstallationId, Remark } from '../terms.ts';

const windowOutcomes = ['open', 'closed', 'failed'] as const;
export type WindowState = (typeof windowOutcomes)[number];

/** A window, as `windows --json` prints it. */
export interface RecordedWindow {
  id: number;
  installation: InstallationId;
  kind: string;
  trigger: string;
  /** From when, and up to when, the window asked, by the earlier of the source's and the database's clock; `from` is null for the first one. */
  from: Date | null;
  to: Date | null;
  outcome: WindowState;
  error: PlainError | null;
  remarks: Remark[];
  opened_at: Date;
  closed_at: Date | null;
  workflow_id: string;
}

const windowColumns = {
  id: integer,
  installation: integer,
  kind: oneOf(['window', 'backfill', 'replay']),
  trigger: text,
  from_time: nullable(instant),
  to_time: nullable(instant),
  outcome: oneOf(windowOutcomes),
  error: nullable(json),
  remarks: json,
  opened_at: instant,
  closed_at: nullable(instant),
  workflow_id: text,
};

/** The newest windows of these installations, the newest first. The table outlives Temporal's retention. */
export async function recordedWindows(
  db: Connection,
  installations: readonly InstallationId[],
  options: { failedOnly: boolean; limit: number },
): Promise<RecordedWindow[]> {
  const found = await rows(
    db,
    windowColumns,
    `select ${Object.keys(windowColumns).join(', ')} from sync_window
     where installation = any(?) and (not ? or outcome = 'failed') order by id desc limit ?`,
    [installations, options.failedOnly, options.limit],
  );
  return found.map(({ from_time, to_time, error, remarks, ...window }) => ({
    ...window,
    from: from_time,
    to: to_time,
    error: errorOf(error),
    remarks: remarksOf(remarks),
  }));
}

/** The newest window of an installation's schedule or `sync`, of one outcome or of any. Backfills do not count. */
export async function newestWindow(
  db: Connection,
  installation: InstallationId,
  outcome: WindowState | null,
): Promise<Pick<RecordedWindow, 'outcome' | 'to' | 'opened_at' | 'error' | 'remarks'> | null> {
  const { to_time, error, remarks, opened_at } = windowColumns;
  const found = await maybeRow(
    db,
    { outcome: windowColumns.outcome, to_time, opened_at, error, remarks },
    `select outcome, to_time, opened_at, error, remarks from sync_window
     where installation = ? and kind = 'window' and (?::text is null or outcome = ?) order by id desc limit 1`,
    [installation, outcome, outcome],
  );
  return (
    found && {
      ...{ outcome: found.outcome, to: found.to_time, opened_at: found.opened_at },
      ...{ error: errorOf(found.error), remarks: remarksOf(found.remarks) },
    }
  );
}

/** The newest window that saw the source's clock put back, unless a backfill has read everything since; null without one. */
export async function clockPutBackAt(db: Connection, installation: InstallationId): Promise<Date | null> {
  const found = await maybeRow(
    db,
    { opened_at: windowColumns.opened_at },
    `select opened_at from sync_window w
     where installation = ? and exists (select from json_array_elements(remarks) r where r->>'code' = 'clock_put_back')
       and not exists (select from sync_window b where b.installation = w.installation and b.kind = 'backfill'
         and b.outcome = 'closed' and b.opened_at > w.opened_at)
     order by id desc limit 1`,
    [installation],
  );
  return found?.opened_at ?? null;
}

/** Whether a window, or a repost, holds the installation's live lane now. */
export async function windowUnderWay(db: Connection, installation: InstallationId): Promise<boolean> {
  const lease = await maybeRow(
    db,
    { held: bool },
    `select expires_at > clock_timestamp() as held from lease where installation = ? and lane = 'live'`,
    [installation],
  );
  return lease?.held ?? false;
}

function remarksOf(stored: string): Remark[] {
  const remarks: unknown = JSON.parse(stored);
  if (!Array.isArray(remarks) || !remarks.every(isRemark)) throw new Error(`a window's remarks are none: ${stored}`);
  return remarks;
}

function isRemark(value: unknown): value is Remark {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}

function errorOf(stored: string | null): PlainError | null {
  if (stored === null) return null;
  const error: unknown = JSON.parse(stored);
  if (!isPlainError(error)) throw new Error(`a window's error is not one: ${stored}`);
  return error;
}

function isPlainError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'todo' in value;
}
