import type { Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Clock } from '../domain/clock.ts';
import { forEachAtATime } from '../domain/concurrency.ts';
import type { PlainError } from '../domain/errors.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { clip, visible } from '../domain/text.ts';
import { ExternalIdTaken, type ExternalIdToWrite } from '../practice/external-info.ts';
import type { Dialect } from '../records/dialect.ts';
import { externalIdIn } from '../records/external-id.ts';
import { parseJson } from '../records/json.ts';
import type { DocumentKind, DocumentRef, InstallationId } from '../terms.ts';
import {
  type NumberOutcome,
  noteSendingNumbers,
  numbersLeft,
  numbersOfOurs,
  type OpenNumber,
  openNumbers,
  planNumbers,
  recordNumbers,
} from './number-store.ts';
import { isEntryOfOurs, planNumber } from './plan.ts';

const unitsAtATime = 500;
const batchSize = 100;
/** Requests under way at a time, as for the entry ids (write-back.ts). */
const requestsInFlight = 8;
/** After so many failures without an answer in a row the source is taken to be down. */
const failuresInARow = 3;
const waits = { firstMs: 60_000, longestMs: 86_400_000 };
/** Characters of a foreign value that a message quotes. */
const longestQuoted = 60;

export interface NumberPorts {
  db: Db;
  /** Write transactions of our own tables. */
  transact: Transact;
  /** Fetches documents into the mirror again; gives the ids of those that the source still has. */
  refresh(kind: DocumentKind, ids: number[]): Promise<Set<number>>;
  /** Writes an external id, keeping every other key. Throws PracticeError, and ExternalIdTaken. */
  send(document: ExternalIdToWrite): Promise<unknown>;
  /** The external id as the sub-resource has it, for records that do not show it. */
  read(document: DocumentRef): Promise<string | null>;
  clock: Pick<Clock, 'elapsed'>;
  /** Aborts when the work is to stop. */
  signal: AbortSignal;
  onProgress(written: number): void;
  onRefused(document: DocumentRef, refusal: { code: string; message: string }): void;
}

export interface NumberReport {
  /** Documents whose record was found to hold the ERP's number, or what stood there before it. */
  written: number;
  /** Documents still to be told; those in whose place another value stands are counted apart. */
  left: number;
  taken: number;
  /** Until one of either may be tried; 0: now; null: none waits. */
  nextDueMs: number | null;
  /** Why it ended early: the practice software cannot be reached, or refuses the credentials. */
  waitingFor: PlainError | null;
}

/**
 * Tells the source the ERP's numbers of delivered documents: reads each record again, writes, and reads back, for `longestMs` at
 * most. A value that is not ours stays, and is reported. What fails is tried again later, ever more seldom.
 */
export async function writeBackNumbers(
  { id: installation, dialect }: { id: InstallationId; dialect: Dialect },
  ports: NumberPorts,
  { longestMs }: { longestMs: number },
): Promise<NumberReport> {
  const { db, transact, clock, signal } = ports;
  const { kinds } = dialect.external_info;
  const endMs = clock.elapsed() + longestMs;
  const work = new Telling(installation, dialect, ports);
  let waitingFor: PlainError | null = null;
  try {
    for (let taken = unitsAtATime; taken === unitsAtATime && clock.elapsed() < endMs; ) {
      signal.throwIfAborted();
      taken = await transact((trx) => planNumbers(trx, installation, { kinds, limit: unitsAtATime }));
    }
    for (const kind of kinds) {
      for (let after = 0; clock.elapsed() < endMs; ) {
        signal.throwIfAborted();
        const open = await openNumbers(db, installation, kind, { after, limit: batchSize });
        const last = open.at(-1);
        if (last === undefined) break;
        await work.tell(
          kind,
          open.map(({ id }) => id),
        );
        after = last.id;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PracticeError)) throw error;
    const { code, message, todo } = error;
    waitingFor = { code, message, todo };
  }
  return { written: work.written, ...(await numbersLeft(db, installation)), waitingFor };
}

class Telling {
  written = 0;
  readonly #installation: InstallationId;
  readonly #dialect: Dialect;
  readonly #ports: NumberPorts;
  #failures = 0;

  constructor(installation: InstallationId, dialect: Dialect, ports: NumberPorts) {
    this.#installation = installation;
    this.#dialect = dialect;
    this.#ports = ports;
  }

  /** Tells a batch of documents of one kind. Throws PracticeError where the source cannot be asked at all. */
  async tell(kind: DocumentKind, ids: number[]): Promise<void> {
    const { transact } = this.#ports;
    // The mirror may be hours old, and staff may have changed what is beside our value since.
    const found = await this.#ports.refresh(kind, ids);
    const outcomes: NumberOutcome[] = [];
    let ended: NumberOutcome[] = [];
    try {
      const sent = await this.#send(kind, await this.#read(kind, ids), found, outcomes);
      if (sent.length > 0) {
        // A success code proves nothing: a server may have dropped the value, or somebody may have written after us.
        const stillThere = await this.#ports.refresh(kind, sent);
        for (const open of await this.#read(kind, sent)) {
          outcomes.push(await this.#confirmed(kind, open, stillThere.has(open.id)));
        }
      }
    } finally {
      // Also what was written before something else failed.
      await transact(async (trx) => {
        const left = outcomes.flatMap((outcome) => ('current' in outcome ? ((outcome as Taken).current ?? []) : []));
        const ours = await numbersOfOurs(trx, this.#installation, left);
        ended = outcomes.map((outcome) => asOurs(outcome, ours));
        await recordNumbers(trx, this.#installation, kind, ended);
      });
    }
    for (const { id, error } of ended) if (error !== null) this.#ports.onRefused({ kind, id }, error);
    this.written += outcomes.filter(({ state }) => state === 'done').length;
    this.#ports.onProgress(this.written);
  }

  /** Sends what is to be sent, and returns the ids; what is settled without that is an outcome. */
  async #send(
    kind: DocumentKind,
    batch: OpenNumber[],
    found: ReadonlySet<number>,
    outcomes: NumberOutcome[],
  ): Promise<number[]> {
    const sending: OpenNumber[] = [];
    for (const open of batch) {
      const settled = found.has(open.id) ? await this.#settledBefore(kind, open) : absent(open);
      if (settled === null) sending.push(open);
      else outcomes.push(settled);
    }
    const ids = sending.map(({ id }) => id);
    await this.#ports.transact((trx) => noteSendingNumbers(trx, this.#installation, kind, ids));
    const sent: number[] = [];
    await forEachAtATime(requestsInFlight, sending, async (open) => {
      const failed = await this.#sendOne(kind, open);
      if (failed === null) sent.push(open.id);
      else outcomes.push(failed);
    });
    return sent;
  }

  /** The outcome where nothing is to be sent; null otherwise. */
  async #settledBefore(kind: DocumentKind, open: OpenNumber): Promise<NumberOutcome | null> {
    const { isCarried, value: current } = await this.#current(kind, open);
    if (!isCarried) return absent(open);
    const plan = planNumber({ ...open, current, isOurs: this.#isOurs(kind, open) });
    if (plan === 'write') return null;
    return plan === 'note' ? done(open) : taken(open, current);
  }

  async #sendOne(kind: DocumentKind, open: OpenNumber): Promise<NumberOutcome | null> {
    const isOurs = this.#isOurs(kind, open);
    try {
      await this.#ports.send({
        kind,
        record: parseJson(open.raw ?? ''),
        externalId: open.value,
        mayReplace: (current) => current === open.value || planNumber({ ...open, current, isOurs }) === 'write',
      });
      this.#failures = 0;
      return null;
    } catch (error) {
      this.#ports.signal.throwIfAborted();
      if (error instanceof ExternalIdTaken) return open.restores ? done(open) : taken(open, error.current);
      if (!(error instanceof PracticeError)) throw error;
      const isOfAll = error.code === 'unauthorized' || error.code === 'throttled';
      this.#failures = error.retryable ? this.#failures + 1 : 0;
      if (isOfAll || this.#failures >= failuresInARow) throw error;
      // Where nobody knows whether it took effect, the next attempt reads again, and writes over nobody else's value.
      return failed(open, { code: 'number_not_written', message: error.message }, { accepted: false });
    }
  }

  /** What became of one that was sent, by what is read back. */
  async #confirmed(kind: DocumentKind, open: OpenNumber, isFound: boolean): Promise<NumberOutcome> {
    if (!isFound) return absent(open);
    const { value: current } = await this.#current(kind, open);
    if (current === open.value) return done(open);
    const plan = planNumber({ ...open, current, isOurs: this.#isOurs(kind, open) });
    if (plan === 'note') return done(open);
    if (plan === 'taken') return taken(open, current);
    const stands = current === null ? 'none' : quoted(current);
    const message = `${quoted(open.value ?? '')} was accepted, and ${stands} stands there`;
    return failed(open, { code: 'number_not_written', message }, { accepted: true });
  }

  /** What stands in the source now, as far as the record or the sub-resource tells. */
  async #current(kind: DocumentKind, open: OpenNumber): Promise<{ isCarried: boolean; value: string | null }> {
    const { mode } = this.#dialect.external_info;
    const shown = externalIdIn(this.#dialect, kind, open.raw === null ? null : parseJson(open.raw));
    if (shown.isCarried) return shown;
    if (mode === 'subresource') return { isCarried: true, value: await this.#ports.read({ kind, id: open.id }) };
    // A prepayment takes it even where its record shows none yet (practice-api: Unallocated payment).
    return { isCarried: kind === 'prepayment', value: null };
  }

  #isOurs(kind: DocumentKind, { id, ownValues }: OpenNumber): (value: string) => boolean {
    const anyEntry = `${this.#installation}/${kind}/${id}/1`;
    return (value) => ownValues.includes(value) || isEntryOfOurs(value, anyEntry);
  }

  #read(kind: DocumentKind, ids: readonly number[]): Promise<OpenNumber[]> {
    return openNumbers(this.#ports.db, this.#installation, kind, { after: 0, limit: ids.length, ids });
  }
}

function done({ id, unitId }: OpenNumber): NumberOutcome {
  return { id, unitId, state: 'done', accepted: true, error: null, waitSeconds: 0 };
}

function absent({ id, unitId }: OpenNumber): NumberOutcome {
  return { id, unitId, state: 'absent', accepted: false, error: null, waitSeconds: 0 };
}

interface Taken extends NumberOutcome {
  current: string | null;
}

function taken({ id, unitId, value }: OpenNumber, current: string | null): Taken {
  const message = `${quoted(current ?? '')} stands where the ERP’s number ${quoted(value ?? '')} would; it was left`;
  const error = { code: 'external_id_taken', message };
  return { id, unitId, state: 'taken', accepted: false, error, waitSeconds: waits.longestMs / 1000, current };
}

function failed(
  { id, unitId, attempts }: OpenNumber,
  error: { code: string; message: string },
  { accepted }: { accepted: boolean },
): NumberOutcome {
  const waitSeconds = backoffMs(attempts + 1, waits) / 1000;
  return { id, unitId, state: 'failed', accepted, error, waitSeconds };
}

/** A value that was left is told apart where it is the number of another document of ours: the source put it there by mistake. */
function asOurs(outcome: NumberOutcome, ours: ReadonlySet<string>): NumberOutcome {
  if (!('current' in outcome)) return outcome;
  const { current, ...rest } = outcome as Taken;
  if (current === null || rest.error === null || !ours.has(current)) return rest;
  const message = rest.error.message.replace(
    '; it was left',
    ', and is the number of another document of ours; it was left',
  );
  return { ...rest, error: { code: 'external_id_of_another', message } };
}

function quoted(value: string): string {
  return `“${visible(clip(value, longestQuoted))}”`;
}
