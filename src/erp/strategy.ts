import { backoffMs } from '../domain/backoff.ts';
import { dayAfter } from '../domain/dates.ts';
import type { CalendarDate } from '../terms.ts';
import { deliveryFindings } from '../texts/findings/delivery.ts';
import type { Capabilities } from './capabilities.ts';
import type { ErpEntry } from './erp-entry.ts';
import type { Doubt } from './outbox/unit.ts';
import { obstacleOf } from './periods.ts';
import type { ErpError, ErpPeriods } from './port.ts';

/**
 * How entries are sent to a target, looked up and sent again. It is derived from the target's capabilities only.
 * Everything here is pure.
 */
export interface Strategy {
  /** Maximum number of entries in a request. */
  batchEntries: number;
  /** Maximum number of keys in a look-up. A scan answers for all keys at once. */
  lookUpKeys: number;
  /** The first request creates a draft, and a second one posts it. */
  draftsFirst: boolean;
  canWithdrawDrafts: boolean;
  /** A void entry is a draft that was withdrawn, so it counts as absent. */
  voidIsAbsent: boolean;
  /** A draft that appears after the delivery has stopped waiting can be found by its key, and withdrawn. */
  sweepsDrafts: boolean;
  /**
   * What happens after a request with an unknown outcome. `look_up`: its keys are looked up. `send_again`: the request
   * is repeated, since the ERP refuses a key that it has. `ask`: neither is possible, so a person has to check the ERP.
   */
  afterDoubt: 'look_up' | 'send_again' | 'ask';
  /**
   * A creating request without an answer is repeated at once, with the same body and id. The ERP refuses the id if it
   * has received the first request.
   */
  repeatsAtOnce: boolean;
  /**
   * How long to wait for a final look-up after a request without an answer: the server may still be working on the
   * request.
   */
  lookUpAfterMs: number;
  /** How long to wait for a final look-up after an answer. */
  seenAfterMs: number;
  readBack: 'by_id' | 'by_key' | 'none';
  readsLocks: boolean;
  /** The reason why nothing may be sent to this target; null if it may. */
  unsafe: 'locks_unreadable' | null;
}

/** Larger batches are slower in the ERPs that were measured, and put more entries in doubt at once. */
const mostEntries = 100;
const secondMs = 1_000;

export function strategyOf(capabilities: Capabilities): Strategy {
  const { key, request_id: requestId, write, doubt, periods, read_back: readBack } = capabilities;
  const seenAfterMs = key.lookup_lag_seconds * secondMs;
  const afterDoubt = key.lookup !== 'none' ? 'look_up' : refusesItsKeys(key) ? 'send_again' : 'ask';
  const batchEntries = afterDoubt === 'ask' ? 1 : Math.max(1, Math.min(mostEntries, write.max_entries));
  return {
    // If only a person can find out the outcome of a request, the request contains one entry.
    batchEntries,
    lookUpKeys: key.lookup === 'scan_by_date' || key.lookup === 'scan_since' ? mostEntries : batchEntries,
    draftsFirst: write.steps !== 'one',
    canWithdrawDrafts: write.withdraw !== 'none',
    voidIsAbsent: write.withdraw === 'void',
    sweepsDrafts: write.steps !== 'one' && write.withdraw !== 'none' && key.lookup !== 'none',
    afterDoubt,
    repeatsAtOnce: afterDoubt === 'look_up' && requestId?.on_repeat === 'refused' && isRemembered(requestId, doubt),
    lookUpAfterMs: doubt.server_may_work_seconds * secondMs + seenAfterMs,
    seenAfterMs,
    readBack: readBack.by === 'id' ? 'by_id' : readBack.by === 'none' || key.lookup === 'none' ? 'none' : 'by_key',
    readsLocks: periods.readable,
    // The ERP would silently post an entry on another day.
    unsafe: periods.on_locked === 'redated' && !periods.readable ? 'locks_unreadable' : null,
  };
}

/** Whether the ERP still remembers the id of a request when the client stops waiting for its answer. */
function isRemembered(
  { remembered_seconds: seconds }: NonNullable<Capabilities['request_id']>,
  { server_may_work_seconds: mayWorkSeconds }: Capabilities['doubt'],
): boolean {
  return seconds === 'unknown' || seconds >= mayWorkSeconds;
}

function refusesItsKeys({ unique, duplicate_reply: reply }: Capabilities['key']): boolean {
  return unique === 'enforced' && (reply === 'refused' || reply === 'replayed');
}

/** No known ERP moves an entry further than this many days into the future. */
const mostDaysAhead = 62;
/** Maximum number of days in a search. */
const mostDays = 800;

/**
 * The days on which the ERP may hold an entry of this date. If the ERP moves dates, these are all days until some weeks
 * from today.
 */
export function searchDays(capabilities: Capabilities, date: CalendarDate, today: CalendarDate): CalendarDate[] {
  const days = [date];
  if (capabilities.periods.on_locked !== 'redated') return days;
  for (let day = dayAfter(date), ahead = 0; ahead < mostDaysAhead && days.length < mostDays; day = dayAfter(day)) {
    days.push(day);
    if (day > today) ahead += 1;
  }
  return days;
}

/** The reason why an entry may not be sent with its date: its period is closed or missing. Null if it may. */
export function dateProblem(
  date: CalendarDate,
  periods: ErpPeriods,
): { code: 'period_closed_in_erp' | 'erp_period_missing'; message: string } | null {
  const obstacle = obstacleOf(periods, date);
  if (obstacle === null) return null;
  if (obstacle === 'missing') return { code: 'erp_period_missing', message: deliveryFindings.periodMissing({ date }) };
  return { code: 'period_closed_in_erp', message: deliveryFindings.periodClosed({ kind: obstacle, date }) };
}

/** The reason why an entry is too large for any request; null if it is not. */
export function sizeProblem(entry: ErpEntry, { write }: Capabilities): string | null {
  const { length: lines } = entry.sentLines ?? entry.lines;
  if (lines > write.max_lines) return deliveryFindings.tooManyLines({ lines, most: write.max_lines });
  const bytes = sizeOf(entry);
  return bytes > write.max_bytes ? deliveryFindings.tooManyBytes({ bytes, most: write.max_bytes }) : null;
}

/** Approximate size of the entry in a request, in bytes. The target's own format has a similar size as our JSON. */
export function sizeOf({ sentLines, ...entry }: ErpEntry): number {
  return Buffer.byteLength(JSON.stringify({ ...entry, lines: sentLines ?? entry.lines }));
}

/** What an error of a writing request means for its units. */
export interface ErrorVerdict {
  /**
   * `again`: the request took no effect, and the units are pending. `look_up`: the units are looked up, at once if
   * `isOver` is true, and otherwise when the server can have finished.
   */
  units: 'again' | 'look_up';
  /** The server has finished the request. */
  isOver: boolean;
  /** The reason for doubt that the error's units get; it decides what their absence means. */
  doubt: Doubt;
  /** The error does not name the entry that caused it, so the absent entries are sent again in halves. */
  isHalved: boolean;
  /** The cause is the ERP or the connection, not a single entry. */
  isFailure: boolean;
  /** Time in which nothing is sent to the company. */
  waitMs: number;
}

/** A failed request. */
export interface Failure {
  error: Pick<ErpError, 'means' | 'problem' | 'keys' | 'retryAfterMs'>;
  /** Number of entries in the request. */
  entries: number;
  /** Number of consecutive failed requests to the company, including this one. */
  failures: number;
}

export function verdictOf({ error, entries, failures }: Failure, strategy: Strategy): ErrorVerdict {
  const waitMs = error.retryAfterMs ?? restMs(failures);
  const isHalved = entries > 1 && error.keys.length === 0;
  switch (error.means) {
    case 'refused':
    case 'duplicate':
      return { units: 'look_up', isOver: true, doubt: error.means, isHalved, isFailure: false, waitMs: 0 };
    case 'repeated':
      // The server may still be working on the first request.
      return { units: 'look_up', isOver: false, doubt: 'no_answer', isHalved: false, isFailure: false, waitMs: 0 };
    case 'unsent':
    case 'auth':
    case 'throttled':
      return { units: 'again', isOver: true, doubt: 'no_answer', isHalved: false, isFailure: true, waitMs };
    case 'locked':
      // A proxy may have answered while the ERP is still working.
      return { units: 'look_up', isOver: false, doubt: 'no_answer', isHalved: false, isFailure: true, waitMs };
    case 'doubt': {
      const inDoubt = { units: 'look_up', isOver: false, isFailure: true } as const;
      if (error.problem === null) {
        // The server may still be working, and processes one request at a time.
        const mayWorkMs = Math.max(waitMs, strategy.lookUpAfterMs);
        return { ...inDoubt, doubt: 'no_answer', isHalved: false, waitMs: mayWorkMs };
      }
      // An unknown message may concern one entry or the whole ERP. After two in a row, vetledger waits.
      return { ...inDoubt, doubt: 'unknown', isHalved, waitMs: failures > 1 ? restMs(failures - 1) : 0 };
    }
  }
}

/** Time in which nothing is sent after this number of consecutive failures. */
export function restMs(failures: number): number {
  return backoffMs(failures, { firstMs: 2_000, longestMs: 300_000 });
}

/** How often an entry is sent that the ERP refuses for an unknown reason. */
const mostUnknownRefusals = 3;

/** The next state of a unit that the ERP does not have, or may not have. */
export type AbsenceVerdict = { state: 'pending' } | { state: 'refused'; code: string; message: string };

/** A unit whose outcome was in doubt. */
export interface Absent {
  doubt: Doubt | null;
  unknownRefusals: number;
  problemCode: string | null;
  problemMessage: string | null;
}

/** Whether a unit that a complete look-up did not find is sent again or refused. */
export function verdictOnAbsence({ doubt, unknownRefusals, problemCode, problemMessage }: Absent): AbsenceVerdict {
  const message = problemMessage ?? '';
  switch (doubt) {
    case null:
    case 'no_answer':
      return { state: 'pending' };
    case 'refused':
      return { state: 'refused', code: problemCode ?? 'erp_refused', message };
    case 'unknown':
    case 'duplicate':
    case 'unseen':
      if (unknownRefusals < mostUnknownRefusals) return { state: 'pending' };
      return { state: 'refused', code: 'erp_refused_unknown', message };
  }
}

/** Decides about a unit without an answer, for an ERP that cannot look up entries. */
export function verdictWithoutLookUp(unit: Absent, { afterDoubt }: Pick<Strategy, 'afterDoubt'>): AbsenceVerdict {
  if (unit.doubt === 'refused') return verdictOnAbsence(unit);
  if (afterDoubt === 'send_again' && unit.doubt !== 'duplicate' && unit.doubt !== 'unseen')
    return verdictOnAbsence(unit);
  return {
    state: 'refused',
    code: 'erp_unverified',
    message: unit.problemMessage ?? deliveryFindings.noAnswer,
  };
}

/** Whether two messages of an ERP are equal apart from ids, keys and amounts. */
export function isSameMessage(one: string | null, other: string | null): boolean {
  const bare = (message: string | null) => (message ?? '').replace(/[A-Z2-7]{20}|[\d.,:]+/g, '#');
  return bare(one) === bare(other);
}
