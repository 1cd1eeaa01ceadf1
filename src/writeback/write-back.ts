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
import type { DocumentKind, DocumentRef, InstallationId } from '../terms.ts';
import {
  noteNotSent,
  noteSending,
  numbersOfOurs,
  openWriteBacks,
  recordOutcomes,
  type Selection,
  unreadWriteBacks,
  type WriteBackRow,
} from './outbox.ts';
import {
  beforeRequest,
  failedOutcome,
  isEffectUnknown,
  mayReplace,
  named,
  outcomeOf,
  type Reading,
  type Request,
  readBackOutcome,
  refusedOutcome,
  type TakenOutcome,
  takenOutcome,
  type Waits,
} from './outcomes.ts';

/** So many documents are read before they are written. A page of them weighs one, whatever it holds. */
const readAtATime = 50;
/** A document is written within so long of the reading before it; later it is read again: staff may have changed what is beside our value. */
export const writeAfterReadMs = 10_000;
/** Documents are read so long before the budget has room for them at the earliest. */
const readAheadMs = 2_000;
/** While there is no room, it is asked for again after so long at most: other processes take from it, and answers free it. */
const longestRoomPauseMs = 1_000;
/** A request waits no longer for room either (src/practice/budget.ts). */
const longestRoomWaitMs = 1_800_000;
/** Pages in a row of which nothing was sent in time, although there was room; the next time tries again. */
const lateRoundsAtMost = 5;
/** Looked for together after the writes: a page of the largest size, where they lie beside each other. */
const readBackAtATime = 1_000;
/** Requests under way at a time: enough to hide the latency, few beside what the budget allows. */
const requestsInFlight = 16;

/** How a failure is borne. */
export interface Patience {
  /** Requests for one document, each after its record was read again, before it is left for another time. */
  attempts: number;
  /** After so many documents in a row without a usable answer the source is taken to be down. */
  failuresInARow: number;
  waits: Waits;
}

export interface WriteBackPorts {
  db: Db;
  transact: Transact;
  /** Records what the source was told, even when the work is to stop. */
  record: Transact;
  /**
   * Fetches a page of documents into the mirror again, at least one of these, which are by id: whether the source still has each, by id. It
   * may tell so of others, too. `isLarge`: several pages in one.
   */
  refresh(kind: DocumentKind, ids: readonly number[], isLarge: boolean): Promise<ReadonlyMap<number, boolean>>;
  /** Milliseconds until the budget has room for so many writes; 0: now. */
  roomInMs(kind: DocumentKind, writes: number): Promise<number>;
  /** Milliseconds of a clock that never jumps: that of the requests' `sendUntilMs`. */
  elapsed(): number;
  /** The external id as the sub-resource has it, for records that do not show it. */
  read(document: DocumentRef): Promise<string | null>;
  /** Writes an external id, keeping every other key. Throws PracticeError, and ExternalIdTaken. */
  send(document: ExternalIdToWrite): Promise<unknown>;
  /** Called with the number of values accepted so far. */
  onProgress(written: number): void;
  onRefused(document: DocumentRef, refusal: { code: string; message: string }): void;
  /** Aborts when the work is to stop: what fails from then on is nobody's refusal. */
  signal: AbortSignal;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
}

export interface WriteBackReport {
  /** Values that a read after their write has shown. */
  confirmed: number;
  /** Values that the source has accepted, that were looked for, and that no read has shown. */
  unconfirmed: number;
}

export interface Place {
  id: InstallationId;
  dialect: Dialect;
}

/** How one request ended; `isStale`: it was not sent, as the budget had no room in time. */
type Sent = { outcome: TakenOutcome } | { againInMs: number } | { isStale: true };

const noRoom = `nothing could be written within ${writeAfterReadMs / 1000} s of reading it, ${lateRoundsAtMost} times in a row`;

/** Tells the source what documents of one kind are to carry: reads each record again, writes, and reads back. */
export class WriteBack {
  readonly report: WriteBackReport = { confirmed: 0, unconfirmed: 0 };
  readonly #installation: Place;
  readonly #ports: WriteBackPorts;
  readonly selection: Selection;
  readonly #patience: Patience;
  #accepted = 0;
  /** Accepted in this run, and not read since. */
  readonly #unread = new Set<number>();
  #failuresInARow = 0;

  constructor(installation: Place, ports: WriteBackPorts, selection: Selection, patience: Patience) {
    this.#installation = installation;
    this.#ports = ports;
    this.selection = selection;
    this.#patience = patience;
  }

  /**
   * Tells documents, page by page: each page is read shortly before the budget has room for its writes. `next` gives the next documents by
   * id, none where nothing waits; it is asked until then, or until `isOver`. Throws what a later time may resolve.
   */
  async tell(next: () => Promise<number[]>, isOver: () => boolean = () => false): Promise<void> {
    const { refresh } = this.#ports;
    const due = new Set<number>();
    let lateRounds = 0;
    for (;;) {
      this.#ports.signal.throwIfAborted();
      if (due.size < readAtATime) for (const id of await next()) due.add(id);
      if (due.size === 0 || isOver()) return;
      await this.#untilRoom(Math.min(due.size, readAtATime), isOver);
      if (isOver()) return;
      // The mirror may be hours old, and staff may have changed what is beside our value since.
      const found = await refresh(
        this.selection.kind,
        [...due].sort((a, b) => a - b),
        false,
      );
      await this.#lookFor(
        [...found.keys()].filter((id) => this.#unread.has(id)),
        found,
      );
      const ids = [...found.keys()].filter((id) => due.delete(id));
      const late = await this.#tellRead(ids, found);
      for (const id of late) due.add(id);
      lateRounds = late.length < ids.length ? 0 : lateRounds + 1;
      if (lateRounds >= lateRoundsAtMost) throw new PracticeError('throttled', noRoom);
    }
  }

  /** Waits until the budget has room for so many writes soon, but not for ever. What was accepted is looked for meanwhile. */
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
   * Tells documents that were read just now; returns those that were not told in time. After an answer that leaves it in doubt whether a
   * request took effect, the record is read anew before the next attempt, which then keeps what somebody wrote there in between.
   */
  async #tellRead(ids: readonly number[], read: ReadonlyMap<number, boolean>): Promise<number[]> {
    const { pause } = this.#ports;
    const stale: number[] = [];
    for (let left = ids, found = read, attempt = 1; left.length > 0; attempt++) {
      const { again, late } = await this.#tellOnce(left, found, attempt);
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

  /** Returns the documents that are to be tried again, and those that could not be sent in time. */
  async #tellOnce(
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
      await transact((trx) => noteSending(trx, installation, kind, sending));
      const sendUntilMs = this.#ports.elapsed() + writeAfterReadMs;
      await forEachAtATime(requestsInFlight, sending, async (request) => {
        const sent = await this.#send(request, attempt, sendUntilMs);
        if ('outcome' in sent) outcomes.push(sent.outcome);
        else if ('isStale' in sent) late.push(request);
        else again.push({ id: request.id, inMs: sent.againInMs });
        this.#ports.onProgress(this.#accepted);
      });
    } finally {
      // Also what was written before something else failed: it is not written again.
      await this.#record(outcomes, record);
    }
    for (const { id, isAccepted } of outcomes) if (isAccepted) this.#unread.add(id);
    const unsent = late.filter(({ row }) => !row.isSent).map(({ id }) => id);
    if (unsent.length > 0) await transact((trx) => noteNotSent(trx, installation, kind, unsent));
    return { again, late: late.map(({ id }) => id) };
  }

  /** Looks for what the source has accepted since it was read last: a success code proves nothing. */
  async readBack(): Promise<void> {
    const { db } = this.#ports;
    const { id: installation } = this.#installation;
    for (let after = 0; ; ) {
      const page = { after, limit: readBackAtATime };
      const ids = (await unreadWriteBacks(db, installation, this.selection, page)).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) break;
      const found = await this.#readAll(ids);
      await this.#lookFor(ids, found);
      after = last;
    }
    // Another lane may have read some of them.
    this.#unread.clear();
  }

  /** Looks for those of the accepted documents that were read again; what was accepted since then was not. */
  async #lookFor(ids: readonly number[], found: ReadonlyMap<number, boolean>): Promise<void> {
    if (ids.length === 0) return;
    const page = { after: Math.min(...ids) - 1, limit: readBackAtATime };
    const rows = await unreadWriteBacks(this.#ports.db, this.#installation.id, this.selection, page);
    const wanted = new Set(ids);
    await this.#look(
      rows.filter(({ id }) => wanted.has(id)),
      found,
    );
  }

  /** Records what a read after the writes shows of them. */
  async #look(rows: readonly WriteBackRow[], found: ReadonlyMap<number, boolean>): Promise<void> {
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
      // Our own budget had no room until then.
      const isUnsent = error instanceof PracticeError && error.code === 'throttled' && error.status !== 429;
      if (isUnsent && this.#ports.elapsed() >= sendUntilMs) return { isStale: true };
      if (error instanceof PracticeError) return this.#failed(row, attempt, error);
      if (!isCausedByData(error)) throw error;
      const message = `sending it failed unexpectedly (${kindOfError(error)})`;
      return { outcome: failedOutcome(row, { code: 'internal_error', message }, this.#patience.waits) };
    }
  }

  /** Throws what concerns all documents: the credentials, a server that is down. */
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

  /** What stands in the source now, as far as the record or the sub-resource tells. */
  async #reading({ id, raw }: WriteBackRow, found: ReadonlyMap<number, boolean>): Promise<Reading> {
    if (found.get(id) !== true) return { isCarried: false, current: null };
    const { dialect } = this.#installation;
    const { kind } = this.selection;
    const shown = externalIdIn(dialect, kind, raw === null ? null : readVerbatim(raw));
    if (shown.isCarried) return { isCarried: true, current: shown.value };
    if (dialect.external_info.mode === 'subresource') {
      return { isCarried: true, current: await this.#ports.read({ kind, id }) };
    }
    // A prepayment takes it even where its record shows none yet (practice-api: Unallocated payment).
    return { isCarried: kind === 'prepayment', current: null };
  }

  async #record(outcomes: readonly TakenOutcome[], transact: Transact): Promise<void> {
    const { id: installation } = this.#installation;
    const { kind } = this.selection;
    const ours = await numbersOfOurs(
      this.#ports.db,
      installation,
      outcomes.flatMap(({ current }) => current ?? []),
    );
    const toRecord = outcomes.map((outcome) => named(outcome, ours));
    await transact((trx) => recordOutcomes(trx, installation, kind, toRecord));
    for (const { id, error } of toRecord) if (error !== null) this.#ports.onRefused({ kind, id }, error);
  }
}
