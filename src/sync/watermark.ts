import { agreedTime, type ReadAt, skewMs } from '../domain/read-at.ts';
import type { CursorValue } from './cursors.ts';

/**
 * Computes how a watermark moves, and from which time the next window reads, even if the source's clock was changed.
 * Pure.
 *
 * Let a window read at `askedAt` by the database's clock and at `sourceTime` by the source's. Its watermark is the
 * earlier of the two. Later changes have later timestamps, unless the source's clock is set back; it is then lower,
 * compared with the database's clock, than before. Timestamps since then begin at the source's present time minus the
 * time since the last window, so the next window reads from there. If the clock was moved more than once between the
 * two windows, they may begin earlier, but not before the last watermark at which both clocks agreed. The next window
 * reads from the earliest of these.
 */

/**
 * A smaller difference between two readings does not count as a step of the clock: `Date` has whole seconds, and
 * durations vary.
 */
export const stepToleranceMs = 5_000;
/** The assumed time since a watermark that was stored without its time. */
const unknownPassedMs = 86_400_000;
/** The clocks agree if they differ by at most this. */
const agreementMs = 60_000;

/** The reading that was stored with a watermark. Null for a cursor of an earlier version without it. */
function readingOf({ askedAt, skew }: CursorValue): { askedMs: number; skewMs: number } | null {
  return askedAt === undefined || skew === undefined ? null : { askedMs: Date.parse(askedAt), skewMs: skew };
}

/** Whether this reading shows that the source's clock was set back since the watermark was stored. */
export function wasPutBack(value: CursorValue, now: ReadAt): boolean {
  const stored = readingOf(value);
  if (stored === null) return value.watermark !== undefined && now.sourceTime.getTime() < Date.parse(value.watermark);
  return skewMs(now) < stored.skewMs - stepToleranceMs;
}

/**
 * The source time from which changes may not have been read yet, before the overlap is subtracted. Null before the
 * first walk. `now` is null if the source has not answered yet.
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
 * The new cursor after everything that changed before `read` was read. `before` is null after a first walk. A
 * transaction commits up to the overlap after its timestamp. One that began before the clock was set forward may
 * therefore still bring an old timestamp.
 */
export function cursorAfter(before: CursorValue | null, read: ReadAt, overlapMs: number): CursorValue {
  const skew = skewMs(read);
  const lower = lowerSkew(before, read, overlapMs);
  const watermarkMs = Math.min(agreedTime(read).getTime(), read.askedAt.getTime() + (lower?.skew ?? 0));
  const watermark = new Date(watermarkMs).toISOString();
  // After a first walk, and after one that began at the last agreed watermark, no earlier change is in doubt.
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

/**
 * The lowest skew of the source's clock for transactions that may still commit. Null if it is not lower than the
 * present one.
 */
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
