import { isCausedByData, kindOfError } from '../db/database-errors.ts';
import type { Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { forEachAtATime } from '../domain/concurrency.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { ExternalIdTaken, type ExternalIdToWrite } from '../practice/external-info.ts';
import { longestPauseMs, retryPauseMs } from '../practice/retry.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdIn } from '../records/external-id.ts';
import { readVerbatim } from '../records/json.ts';
import type { InstallationId, SourceKind, SourceRef } from '../terms.ts';
import { writeBackTexts } from '../texts/findings/write-back.ts';
import {
  numbersOfOurs,
  openWriteBacks,
  recordNotSent,
  recordOutcomes,
  recordSending,
  type Selection,
  unreadWriteBacks,
  type WriteBackRow,
} from './outbox.ts';
import {
  beforeRequest,
  failedOutcome,
  isEffectUnknown,
  mayReplace,
  outcomeOf,
  type Reading,
  type Request,
  readBackOutcome,
  refusedOutcome,
  type TakenOutcome,
  takenOutcome,
  type Waits,
  withOwnNumber,
} from './outcomes.ts';

/** The number of documents that are read together before they are written. A page of them has weight 1. */
const readAtATime = 50;
/**
 * A document is written within this time after it was read. Later it is read again, because staff may have changed the
 * other keys of external_info.
 */
export const writeAfterReadMs = 10_000;
/** Documents are read at most this long before the budget has room for them. */
const readAheadMs = 2_000;
/** Longest pause between checks for room, because other processes use the budget and answers free it. */
const longestRoomPauseMs = 1_000;
/** The longest wait for room. It is also that of a single request (src/practice/budget.ts). */
const longestRoomWaitMs = 1_800_000;
/**
 * After this number of pages in a row without a write in time, the work ends. The next window or delivery tries again.
 */
const lateRoundsAtMost = 5;
/** Documents that are read back together. If their ids are close together, they fit on a page of the largest size. */
const readBackAtATime = 1_000;
/** Concurrent requests. The number hides the latency, and is small compared with the rate budget. */
const requestsInFlight = 16;

/** Limits of failures. */
export interface Patience {
  /** Attempts for one document before it is left for a later run. Its record is read again before each one. */
  attempts: number;
  /** After this number of documents in a row without a usable answer, the source counts as unreachable. */
  failuresInARow: number;
  waits: Waits;
}

export interface WriteBackPorts {
  db: Db;
  transact: Transact;
  /** A transaction that records what was sent, even while the work is being stopped. */
  record: Transact;
  /**
   * Fetches a page of documents into the mirror again, with at least the first of these ids (which are sorted). Returns
   * whether the source still has each of them. The result may contain others, too. `isLarge` requests the largest page.
   */
  refresh(kind: SourceKind, ids: readonly number[], isLarge: boolean): Promise<ReadonlyMap<number, boolean>>;
  /** Milliseconds until the budget has room for this number of writes; 0 is now. */
  roomInMs(kind: SourceKind, writes: number): Promise<number>;
  /** Milliseconds of a monotonic clock, the one of the requests' `sendUntilMs`. */
  elapsed(): number;
  /** Reads the external id in the sub-resource, for records that do not contain it. */
  read(document: SourceRef): Promise<string | null>;
  /** Writes an external id, keeping every other key. Throws PracticeError, and ExternalIdTaken. */
  send(document: ExternalIdToWrite): Promise<unknown>;
  /** The write-back calls this with the number of values accepted so far. */
  onProgress(written: number): void;
  onRefused(document: SourceRef, refusal: { code: string; message: string }): void;
  /** Aborts when the work must stop. A failure after that is not a refusal. */
  signal: AbortSignal;
  /** Sleeps. Rejects when the work must stop. */
  pause(ms: number): Promise<void>;
}

export interface WriteBackReport {
  /** Values that a read after their write has shown. */
  confirmed: number;
  /** Values that the source accepted and a read did not show. */
  unconfirmed: number;
}

export interface Place {
  id: InstallationId;
  dialect: Dialect;
}

/** The outcome of one request. `isStale`: it was not sent, because the budget had no room in time. */
type Sent = { outcome: TakenOutcome } | { againInMs: number } | { isStale: true };

const noRoom = writeBackTexts.noRoom({ seconds: writeAfterReadMs / 1000, rounds: lateRoundsAtMost });

/** Writes values to documents of one kind: reads each record again, writes, and reads back. */
export class WriteBack {
  readonly report: WriteBackReport = { confirmed: 0, unconfirmed: 0 };
  readonly #installation: Place;
  readonly #ports: WriteBackPorts;
  readonly selection: Selection;
  readonly #patience: Patience;
  #accepted = 0;
  /** Documents that were accepted in this run and not read since. */
  readonly #unread = new Set<number>();
  #failuresInARow = 0;

  constructor(installation: Place, ports: WriteBackPorts, selection: Selection, patience: Patience) {
    this.#installation = installation;
    this.#ports = ports;
    this.selection = selection;
    this.#patience = patience;
  }

  /**
   * Writes documents page by page. Each page is read shortly before the budget has room for its writes. `next` returns
   * the next documents by id, and none if nothing is waiting. The work ends then, or when `isOver`. Throws errors that
   * a later run may not have.
   */
  async write(next: () => Promise<number[]>, isOver: () => boolean = () => false): Promise<void> {
    const { refresh } = this.#ports;
    const due = new Set<number>();
    let lateRounds = 0;
    for (;;) {
      this.#ports.signal.throwIfAborted();
      if (due.size < readAtATime) for (const id of await next()) due.add(id);
      if (due.size === 0 || isOver()) return;
      await this.#untilRoom(Math.min(due.size, readAtATime), isOver);
      if (isOver()) return;
      // The mirror may be hours old, and staff may have changed other keys of external_info since.
      const found = await refresh(
        this.selection.kind,
        [...due].sort((a, b) => a - b),
        false,
      );
      await this.#readBackOf(
        [...found.keys()].filter((id) => this.#unread.has(id)),
        found,
      );
      const ids = [...found.keys()].filter((id) => due.delete(id));
      const late = await this.#writeRead(ids, found);
      for (const id of late) due.add(id);
      lateRounds = late.length < ids.length ? 0 : lateRounds + 1;
      if (lateRounds >= lateRoundsAtMost) throw new PracticeError('throttled', noRoom);
    }
  }

  /**
   * Waits, up to a limit, until the budget soon has room for this number of writes. Accepted values are read back in
   * the meantime.
   */
  async #untilRoom(writes: number, isOver: () => boolean): Promise<void> {
    const endMs = this.#ports.elapsed() + longestRoomWaitMs;
    while (this.#ports.elapsed() < endMs && !isOver()) {
      const waitMs = (await this.#ports.roomInMs(this.selection.kind, writes)) - readAheadMs;
      if (waitMs <= 0) return;
      if (this.#unread.size >= readBackAtATime) await this.readBack();
      else await this.#ports.pause(Math.min(waitMs, longestRoomPauseMs));
    }
  }

  /**
   * Writes documents that were just read. Returns those that could not be sent in time. If an answer leaves the effect
   * of a request in doubt, the record is read again before the next attempt, which then keeps what others wrote in
   * between.
   */
  async #writeRead(ids: readonly number[], read: ReadonlyMap<number, boolean>): Promise<number[]> {
    const { pause } = this.#ports;
    const stale: number[] = [];
    for (let left = ids, found = read, attempt = 1; left.length > 0; attempt++) {
      const { again, late } = await this.#writeOnce(left, found, attempt);
      stale.push(...late);
      left = again.map(({ id }) => id);
      if (left.length === 0) break;
      await pause(Math.max(...again.map(({ inMs }) => inMs)));
      found = await this.#readAll(left);
    }
    return stale;
  }

  async #readAll(ids: readonly number[]): Promise<ReadonlyMap<number, boolean>> {
    const all = new Map<number, boolean>();
    for (let left = [...ids].sort((a, b) => a - b); left.length > 0; left = left.filter((id) => !all.has(id))) {
      for (const [id, isFound] of await this.#ports.refresh(this.selection.kind, left, true)) all.set(id, isFound);
    }
    return all;
  }

  /** Returns the documents to try again, and those that could not be sent in time. */
  async #writeOnce(
    ids: readonly number[],
    found: ReadonlyMap<number, boolean>,
    attempt: number,
  ): Promise<{ again: { id: number; inMs: number }[]; late: number[] }> {
    const { db, transact, record } = this.#ports;
    const { kind } = this.selection;
    const { id: installation } = this.#installation;
    const outcomes: TakenOutcome[] = [];
    const again: { id: number; inMs: number }[] = [];
    const late: Request[] = [];
    try {
      const sending: Request[] = [];
      for (const row of await openWriteBacks(db, installation, this.selection, ids)) {
        const next = beforeRequest(installation, row, await this.#reading(row, found), this.#patience.waits);
        if (next === null) continue;
        if ('request' in next) sending.push(next.request);
        else outcomes.push(next.outcome);
      }
      await transact((trx) => recordSending(trx, installation, kind, sending));
      const sendUntilMs = this.#ports.elapsed() + writeAfterReadMs;
      await forEachAtATime(requestsInFlight, sending, async (request) => {
        const sent = await this.#send(request, attempt, sendUntilMs);
        if ('outcome' in sent) outcomes.push(sent.outcome);
        else if ('isStale' in sent) late.push(request);
        else again.push({ id: request.id, inMs: sent.againInMs });
        this.#ports.onProgress(this.#accepted);
      });
    } finally {
      // Recorded even if something else failed, so that a written value is not written again.
      await this.#record(outcomes, record);
    }
    for (const { id, isAccepted } of outcomes) if (isAccepted) this.#unread.add(id);
    const unsent = late.filter(({ row }) => !row.isSent).map(({ id }) => id);
    if (unsent.length > 0) await transact((trx) => recordNotSent(trx, installation, kind, unsent));
    return { again, late: late.map(({ id }) => id) };
  }

  /** Reads back what the source has accepted, because a success status does not prove that it stored the value. */
  async readBack(): Promise<void> {
    const { db } = this.#ports;
    const { id: installation } = this.#installation;
    for (let after = 0; ; ) {
      const page = { after, limit: readBackAtATime };
      const ids = (await unreadWriteBacks(db, installation, this.selection, page)).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) break;
      const found = await this.#readAll(ids);
      await this.#readBackOf(ids, found);
      after = last;
    }
    // Another lane may have read some of them.
    this.#unread.clear();
  }

  /**
   * Compares those accepted documents that have just been read. Documents that were accepted after the read are left
   * out.
   */
  async #readBackOf(ids: readonly number[], found: ReadonlyMap<number, boolean>): Promise<void> {
    if (ids.length === 0) return;
    const page = { after: Math.min(...ids) - 1, limit: readBackAtATime };
    const rows = await unreadWriteBacks(this.#ports.db, this.#installation.id, this.selection, page);
    const requested = new Set(ids);
    await this.#compare(
      rows.filter(({ id }) => requested.has(id)),
      found,
    );
  }

  /** Records what a read shows of written documents. */
  async #compare(rows: readonly WriteBackRow[], found: ReadonlyMap<number, boolean>): Promise<void> {
    const outcomes: TakenOutcome[] = [];
    for (const row of rows) {
      const reading = await this.#reading(row, found);
      outcomes.push(readBackOutcome(this.#installation.id, row, reading, this.#patience.waits));
    }
    await this.#record(outcomes, this.#ports.transact);
    for (const { id, standing, state } of outcomes) {
      this.#unread.delete(id);
      if (standing === 'shown') this.report.confirmed += 1;
      else if (standing === 'missing' || state === null) this.report.unconfirmed += 1;
    }
  }

  async #send(request: Request, attempt: number, sendUntilMs: number): Promise<Sent> {
    const { row } = request;
    if (this.#ports.elapsed() >= sendUntilMs) return { isStale: true };
    try {
      await this.#ports.send({
        kind: this.selection.kind,
        record: readVerbatim(row.raw ?? ''),
        externalId: row.value,
        sendUntilMs,
        mayReplace: (current) => mayReplace(this.#installation.id, request, current),
      });
      this.#failuresInARow = 0;
      this.#accepted += 1;
      return { outcome: outcomeOf(row, { state: 'done', isAccepted: true }) };
    } catch (error) {
      this.#ports.signal.throwIfAborted();
      if (error instanceof ExternalIdTaken) return { outcome: takenOutcome(row, error.current, this.#patience.waits) };
      // The budget had no room before `sendUntilMs`.
      const isUnsent = error instanceof PracticeError && error.code === 'throttled' && error.status !== 429;
      if (isUnsent && this.#ports.elapsed() >= sendUntilMs) return { isStale: true };
      if (error instanceof PracticeError) return this.#failed(row, attempt, error);
      if (!isCausedByData(error)) throw error;
      const message = writeBackTexts.sendingFailed({ reason: kindOfError(error) });
      return { outcome: failedOutcome(row, { code: 'internal_error', message }, this.#patience.waits) };
    }
  }

  /** Throws errors that concern all documents: refused credentials, or a server that is down. */
  #failed(row: WriteBackRow, attempt: number, error: PracticeError): Sent {
    const isInDoubt = isEffectUnknown(error);
    if (error.code === 'unauthorized' || (error.retryable && !isInDoubt)) throw error;
    const waitMs = error.retryAfterMs ?? 0;
    if (isInDoubt && attempt < this.#patience.attempts && waitMs <= longestPauseMs) {
      return { againInMs: Math.max(retryPauseMs(attempt, Math.random), waitMs) };
    }
    this.#failuresInARow = error.retryable ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow >= this.#patience.failuresInARow) throw error;
    return { outcome: refusedOutcome(row, error, this.#patience.waits) };
  }

  /** The present external id in the source, from the record or the sub-resource. */
  async #reading({ id, raw }: WriteBackRow, found: ReadonlyMap<number, boolean>): Promise<Reading> {
    if (found.get(id) !== true) return { isCarried: false, current: null };
    const { dialect } = this.#installation;
    const { kind } = this.selection;
    const shown = externalIdIn(dialect, kind, raw === null ? null : readVerbatim(raw));
    if (shown.isCarried) return { isCarried: true, current: shown.value };
    if (dialect.external_info.mode === 'subresource') {
      return { isCarried: true, current: await this.#ports.read({ kind, id }) };
    }
    // A prepayment accepts external_info even if its record does not show any yet (practice-api: Unallocated payment).
    return { isCarried: kind === 'prepayment', current: null };
  }

  async #record(outcomes: readonly TakenOutcome[], transact: Transact): Promise<void> {
    const { id: installation } = this.#installation;
    const { kind } = this.selection;
    const ours = await numbersOfOurs(
      this.#ports.db,
      installation,
      outcomes.flatMap(({ foreign }) => foreign?.current ?? []),
    );
    const toRecord = outcomes.map((outcome) => withOwnNumber(outcome, ours));
    await transact((trx) => recordOutcomes(trx, installation, kind, toRecord));
    for (const { id, error } of toRecord) if (error !== null) this.#ports.onRefused({ kind, id }, error);
  }
}
