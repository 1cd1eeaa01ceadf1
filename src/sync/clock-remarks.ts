import type { Remark } from '../terms.ts';
import { clockRemarkTexts } from '../texts/findings/clock.ts';
import type { CursorValue } from './cursors.ts';
import type { Opening } from './opening.ts';
import { wasPutBack } from './watermark.ts';

/**
 * How far the source's clock is at least ahead of the database's, in ms; negative if it is behind. 0 if the request
 * took too long to decide, and without a `Date` header.
 */
export function certainSkewMs({ clock, sourceTime, sourceTimeAtMost, askedAt, answeredAt }: Opening): number {
  if (clock !== 'server') return 0;
  const aheadMs = sourceTime.getTime() - answeredAt.getTime();
  const behindMs = askedAt.getTime() - sourceTimeAtMost.getTime();
  return aheadMs > 0 ? aheadMs : behindMs > 0 ? -behindMs : 0;
}

/**
 * Remarks about the source's clock, from a window's first answer. `cursor` is the cursor of invoices before this
 * window.
 */
export function clockRemarks(opening: Opening, cursor: CursorValue | null, limitMs: number): Remark[] {
  const remarks: Remark[] = [];
  const skewMs = certainSkewMs(opening);
  if (Math.abs(skewMs) > limitMs) {
    remarks.push({
      code: 'clock_skew',
      message: clockRemarkTexts.skew({ skew: skewInWords(skewMs) }),
    });
  }
  if (opening.clock === 'server' && cursor !== null && wasPutBack(cursor, opening)) {
    remarks.push({
      code: 'clock_put_back',
      message: clockRemarkTexts.setBack,
    });
  }
  return remarks;
}

/** The difference of two clocks in words, such as `2 h ahead of` or `90 s behind`. */
export function skewInWords(skewMs: number): string {
  const duration = durationText(Math.abs(skewMs));
  return skewMs > 0 ? clockRemarkTexts.ahead({ duration }) : clockRemarkTexts.behind({ duration });
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
