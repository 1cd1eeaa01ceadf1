import { backoffMs } from '../domain/backoff.ts';
import { dayAfter } from '../domain/dates.ts';
import type { CalendarDate } from '../terms.ts';
import type { Capabilities } from './capabilities.ts';
import type { ErpEntry } from './erp-entry.ts';
import type { Doubt } from './outbox/unit.ts';
import { obstacleOf } from './periods.ts';
import type { ErpError, ErpPeriods } from './port.ts';

/**
 * How entries are sent to a target, looked up and sent again: derived from what it declares (capabilities.ts), never written for
 * one target. Everything here is pure.
 */
export interface Strategy {
  /** Entries in a request at most. */
  batchEntries: number;
  /** What is created is a draft first, which a second request posts. */
  draftsFirst: boolean;
  canDeleteDrafts: boolean;
  /** A draft that comes after everybody has stopped waiting for it is found by its key, and can be deleted. */
  sweepsDrafts: boolean;
  /**
   * What is done about a request whose outcome nobody knows. `look_up`: its keys are looked up. `send_again`: the ERP itself
   * refuses a key that it has. `ask`: neither is possible; somebody has to look.
   */
  afterDoubt: 'look_up' | 'send_again' | 'ask';
  /** After a request without an answer no look-up is believed before so long: the server may still be at work on it. */
  lookUpAfterMs: number;
  /** After an answer no look-up is believed before so long. */
  seenAfterMs: number;
  readBack: 'by_id' | 'by_key' | 'none';
  readsLocks: boolean;
  /** Why nothing may be sent at all; null where it may. */
  unsafe: 'locks_unreadable' | null;
}

/** Above this, batches are slower again in the ERPs that were measured, and more is in doubt at once. */
const mostEntries = 100;
const secondMs = 1_000;

export function strategyOf(capabilities: Capabilities): Strategy {
  const { key, write, doubt, periods, read_back: readBack } = capabilities;
  const seenAfterMs = key.lookup_lag_seconds * secondMs;
  const afterDoubt = key.lookup !== 'none' ? 'look_up' : refusesItsKeys(key) ? 'send_again' : 'ask';
  return {
    // Where only people can tell what became of a request, it is about one entry.
    batchEntries: afterDoubt === 'ask' ? 1 : Math.max(1, Math.min(mostEntries, write.max_entries)),
    draftsFirst: write.steps !== 'one',
    canDeleteDrafts: write.drafts_deletable,
    sweepsDrafts: write.steps !== 'one' && write.drafts_deletable && key.lookup !== 'none',
    afterDoubt,
    lookUpAfterMs: doubt.server_may_work_seconds * secondMs + seenAfterMs,
    seenAfterMs,
    readBack: readBack.by === 'id' ? 'by_id' : readBack.by === 'none' || key.lookup === 'none' ? 'none' : 'by_key',
    readsLocks: periods.readable,
    // An entry would be posted on another day than it was sent with, and nobody would know before.
    unsafe: periods.on_locked === 'redated' && !periods.readable ? 'locks_unreadable' : null,
  };
}

function refusesItsKeys({ unique, duplicate_reply: reply }: Capabilities['key']): boolean {
  return unique === 'enforced' && (reply === 'refused' || reply === 'replayed');
}

/** Days after today to which no ERP is known to move an entry. */
const mostDaysAhead = 62;
/** Days of a search at most. */
const mostDays = 800;

/** The days on which an ERP may hold an entry of this date: all up to some weeks from today where it moves dates. */
export function searchDays(capabilities: Capabilities, date: CalendarDate, today: CalendarDate): CalendarDate[] {
  const days = [date];
  if (capabilities.periods.on_locked !== 'redated') return days;
  for (let day = dayAfter(date), ahead = 0; ahead < mostDaysAhead && days.length < mostDays; day = dayAfter(day)) {
    days.push(day);
    if (day > today) ahead += 1;
  }
  return days;
}

/** Why an entry may not be sent with its date: its period is closed, or there is none; null where it may. */
export function dateProblem(
  date: CalendarDate,
  periods: ErpPeriods,
): { code: 'period_closed_in_erp' | 'erp_period_missing'; message: string } | null {
  const obstacle = obstacleOf(periods, date);
  if (obstacle === null) return null;
  if (obstacle === 'missing') return { code: 'erp_period_missing', message: `the ERP has no period for ${date}` };
  return { code: 'period_closed_in_erp', message: `the ERP’s period (${obstacle}) of ${date} is closed` };
}

/** Why an entry cannot be sent whatever its batch; null where it can. */
export function sizeProblem(entry: ErpEntry, { write }: Capabilities): string | null {
  if (entry.lines.length > write.max_lines) {
    return `it has ${entry.lines.length} lines; the ERP takes ${write.max_lines}`;
  }
  const bytes = sizeOf(entry);
  return bytes > write.max_bytes ? `it has some ${bytes} bytes; the ERP takes ${write.max_bytes}` : null;
}

/** Bytes of a request with this entry, roughly: what a target sends is of the same order as our own text of it. */
export function sizeOf(entry: ErpEntry): number {
  return Buffer.byteLength(JSON.stringify(entry));
}

/** What an error of a writing request means for the units that it was about. */
export interface ErrorVerdict {
  /**
   * `again`: the request took no effect, and they are pending. `look_up`: they are looked up, at once where `isOver`, and
   * otherwise once the server can be done.
   */
  units: 'again' | 'look_up';
  /** The request is over: nothing of it happens any more. */
  isOver: boolean;
  /** What it means that a unit is absent then, for those that the error is about. */
  doubt: Doubt;
  /** Nobody knows which of several it is about: those that are absent are sent in halves. */
  isHalved: boolean;
  /** It is about the ERP or the way to it, and not about single entries. */
  isFailure: boolean;
  /** Nothing is sent to the company for so long. */
  waitMs: number;
}

/** What is known when a request has failed. */
export interface Failure {
  error: Pick<ErpError, 'means' | 'problem' | 'keys' | 'retryAfterMs'>;
  /** Entries in the request. */
  entries: number;
  /** Failed requests of the company in a row, this one included. */
  failures: number;
}

export function verdictOf({ error, entries, failures }: Failure, strategy: Strategy): ErrorVerdict {
  const waitMs = error.retryAfterMs ?? restMs(failures);
  const isHalved = entries > 1 && error.keys.length === 0;
  switch (error.means) {
    case 'refused':
    case 'duplicate':
      return { units: 'look_up', isOver: true, doubt: error.means, isHalved, isFailure: false, waitMs: 0 };
    case 'unsent':
    case 'auth':
    case 'throttled':
      return { units: 'again', isOver: true, doubt: 'no_answer', isHalved: false, isFailure: true, waitMs };
    case 'locked':
      // The answer may be a server's between us and the ERP, which is still at work.
      return { units: 'look_up', isOver: false, doubt: 'no_answer', isHalved: false, isFailure: true, waitMs };
    case 'doubt': {
      const inDoubt = { units: 'look_up', isOver: false, isFailure: true } as const;
      if (error.problem === null) {
        // The server may still be at work, and takes one request at a time.
        const mayWorkMs = Math.max(waitMs, strategy.lookUpAfterMs);
        return { ...inDoubt, doubt: 'no_answer', isHalved: false, waitMs: mayWorkMs };
      }
      // A message that is not known may be about one entry, or about the whole ERP: two in a row are waited for.
      return { ...inDoubt, doubt: 'unknown', isHalved, waitMs: failures > 1 ? restMs(failures - 1) : 0 };
    }
  }
}

/** How long nothing is sent after so many failures in a row. */
export function restMs(failures: number): number {
  return backoffMs(failures, { firstMs: 2_000, longestMs: 300_000 });
}

/** An entry that the ERP does not take, without a reason that is known, is not sent more often than this. */
const mostUnknownRefusals = 3;

/** What becomes of a unit that is not in the ERP, or of which nobody can tell. */
export type AbsenceVerdict = { state: 'pending' } | { state: 'refused'; code: string; message: string };

/** What is known of a unit whose outcome was in doubt. */
export interface Absent {
  doubt: Doubt | null;
  unknownRefusals: number;
  problemCode: string | null;
  problemMessage: string | null;
}

/** Whether a unit that a complete look-up did not find posted is sent again, or is refused. */
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

/** The same where the ERP offers no look-up. */
export function verdictWithoutLookUp(unit: Absent, { afterDoubt }: Pick<Strategy, 'afterDoubt'>): AbsenceVerdict {
  if (unit.doubt === 'refused') return verdictOnAbsence(unit);
  if (afterDoubt === 'send_again' && unit.doubt !== 'duplicate' && unit.doubt !== 'unseen')
    return verdictOnAbsence(unit);
  return {
    state: 'refused',
    code: 'erp_unverified',
    message: unit.problemMessage ?? 'a request to create it ended without an answer',
  };
}

/** Whether two messages of an ERP tell the same: ids, keys and amounts in them aside. */
export function isSameMessage(one: string | null, other: string | null): boolean {
  const bare = (message: string | null) => (message ?? '').replace(/[A-Z2-7]{20}|[\d.,:]+/g, '#');
  return bare(one) === bare(other);
}
