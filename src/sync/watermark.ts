import { agreedTime, type ReadAt, skewMs } from '../domain/read-at.ts';
import type { CursorValue } from './cursors.ts';

/**
 * How a watermark moves and what the next window asks from it, whatever the source's clock does. Pure.
 *
 * Let a window read at `askedAt` by the database's clock and at `sourceTime` by the source's. Its watermark is the earlier of the
 * two. What changes after that is stamped later than the watermark, unless the source's clock is put back: it then stands lower
 * against the database's clock than it did. Stamps since then begin at its present time less what has passed since the last
 * window, and that is asked from. If the clock was moved more than once between the two windows, they may begin earlier: down to
 * the last watermark at which both clocks agreed, which is asked from where it is earlier still.
 */

/** Differences of two readings that are no step of a clock: `Date` has whole seconds, and answers differ in duration. */
export const stepToleranceMs = 5_000;
/** What is taken to have passed since a watermark that was stored without its time. */
const unknownPassedMs = 86_400_000;
/** The clocks agree where they differ by no more than this. */
const agreementMs = 60_000;

/** A watermark's reading as stored with it; null for a cursor of a version that stored none. */
function readingOf({ askedAt, skew }: CursorValue): { askedMs: number; skewMs: number } | null {
  return askedAt === undefined || skew === undefined ? null : { askedMs: Date.parse(askedAt), skewMs: skew };
}

/** Whether the source's clock was put back since the watermark was stored, as far as this reading shows. */
export function wasPutBack(value: CursorValue, now: ReadAt): boolean {
  const stored = readingOf(value);
  if (stored === null) return value.watermark !== undefined && now.sourceTime.getTime() < Date.parse(value.watermark);
  return skewMs(now) < stored.skewMs - stepToleranceMs;
}

/**
 * The source time from which changes may not have been read yet, the overlap not yet taken off; null before the first walk.
 * `now` is null where the source has not answered yet.
 */
export function changedFrom(value: CursorValue | null, now: ReadAt | null): Date | null {
  if (value?.watermark === undefined) return null;
  const watermark = Date.parse(value.askFrom ?? value.watermark);
  if (now === null || !wasPutBack(value, now)) return new Date(watermark);
  const stored = readingOf(value);
  const passedMs = stored === null ? unknownPassedMs : Math.max(0, now.askedAt.getTime() - stored.askedMs);
  const agreed = value.agreed === undefined ? watermark : Date.parse(value.agreed);
  return new Date(Math.min(watermark, agreed, now.sourceTime.getTime() - passedMs));
}

/**
 * The cursor after everything changed before `read` was read; `before` is null after a first walk. A transaction commits up to
 * the overlap after it was stamped: one that began before the clock was put forward still brings an old stamp.
 */
export function cursorAfter(before: CursorValue | null, read: ReadAt, overlapMs: number): CursorValue {
  const skew = skewMs(read);
  const lower = lowerSkew(before, read, overlapMs);
  const watermarkMs = Math.min(agreedTime(read).getTime(), read.askedAt.getTime() + (lower?.skew ?? 0));
  const watermark = new Date(watermarkMs).toISOString();
  // After a first walk, and after one from the last agreed watermark, nothing before is in doubt.
  const isAgreed =
    before?.watermark === undefined ||
    before.askFrom !== undefined ||
    Math.abs(skew) <= agreementMs ||
    wasPutBack(before, read);
  const agreed = isAgreed ? watermark : before.agreed;
  return {
    ...{ watermark, askedAt: read.askedAt.toISOString(), skew },
    ...(agreed === undefined ? {} : { agreed }),
    ...(lower === null ? {} : { before: lower }),
  };
}

/** The lowest that the source's clock stood against the database's for transactions that may still commit, if lower than now. */
function lowerSkew(
  before: CursorValue | null,
  read: ReadAt,
  overlapMs: number,
): NonNullable<CursorValue['before']> | null {
  const askedMs = read.askedAt.getTime();
  const known = before?.before && Date.parse(before.before.until) > askedMs ? before.before : null;
  if (before?.skew === undefined || before.skew >= skewMs(read) - stepToleranceMs) return known;
  const until = new Date(askedMs + overlapMs).toISOString();
  return { skew: Math.min(before.skew, known?.skew ?? before.skew), until };
}
