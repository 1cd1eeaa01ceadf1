import type { Remark } from '../terms.ts';
import type { CursorValue } from './cursors.ts';
import type { Opening } from './opening.ts';
import { wasPutBack } from './watermark.ts';

/**
 * How far the source's clock is certainly ahead of the database's, in ms, negative where it is behind; 0 where the request took
 * too long to tell, and without a `Date` header.
 */
export function certainSkewMs({ clock, sourceTime, sourceTimeAtMost, askedAt, answeredAt }: Opening): number {
  if (clock !== 'server') return 0;
  const aheadMs = sourceTime.getTime() - answeredAt.getTime();
  const behindMs = askedAt.getTime() - sourceTimeAtMost.getTime();
  return aheadMs > 0 ? aheadMs : behindMs > 0 ? -behindMs : 0;
}

/** What a window's first answer shows of the source's clock; `cursor` is the invoices' before this window. */
export function clockRemarks(opening: Opening, cursor: CursorValue | null, limitMs: number): Remark[] {
  const remarks: Remark[] = [];
  const skewMs = certainSkewMs(opening);
  if (Math.abs(skewMs) > limitMs) {
    remarks.push({
      code: 'clock_skew',
      message: `The source's clock is ${skewInWords(skewMs)} the database's. Changes are asked for by the earlier of the two, so that none is missed. Have the wrong clock synchronised (NTP).`,
    });
  }
  if (opening.clock === 'server' && cursor !== null && wasPutBack(cursor, opening)) {
    remarks.push({
      code: 'clock_put_back',
      message:
        "The source's clock was put back since the last window. What changed since both clocks last agreed was asked for again. If it was moved more than once in between, a change can lie before that: `vetledger backfill` reads everything.",
    });
  }
  return remarks;
}

/** `2 h ahead of`, `90 s behind`. */
export function skewInWords(skewMs: number): string {
  return `${spoken(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

function spoken(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
