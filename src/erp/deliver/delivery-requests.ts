import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../../config/load-config.ts';
import { LeaseLost, leaseSeconds, renewLease, underLease } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import { businessDate } from '../../domain/dates.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { type CompanyLease, noteFailure } from '../company-lease.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import type { Pace } from '../erp-pace.ts';
import { noteSending } from '../outbox/record-outcomes.ts';
import { ErpError, type ErpTarget, type RequestOptions, type WriteOptions } from '../port.ts';
import { restMs, type Strategy, searchDays } from '../strategy.ts';
import type { Item } from './attempt.ts';
import { plainErrorOf } from './delivery-errors.ts';
import { told } from './outcomes.ts';

/** What the requests of a batch are sent with. */
export interface RequestContext {
  db: Db;
  installation: InstallationConfig;
  target: ErpTarget;
  pace: Pace;
  strategy: Strategy;
  lease: CompanyLease;
  /** Requests of the company that failed in a row, before this batch. */
  failures: number;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  signal: AbortSignal;
  priority: number;
  log: { warn(fields: object, message: string): void };
}

/** What came of a request that writes, with the items that it was about. */
export type Written<Result> = { items: readonly Item[] } & ({ result: Result } | { error: ErpError });

/** Nothing more can be done now: the way to the ERP, or the ERP itself, is in the way. */
export class Stopped extends Error {
  readonly plain: PlainError;

  constructor(plain: PlainError) {
    super(plain.message);
    this.plain = plain;
  }
}

/** The requests of one batch to the ERP, each at the company's pace and under its lease, and what stops them. */
export class Requests {
  readonly #to: RequestContext;
  #failures: number;

  constructor(context: RequestContext) {
    this.#to = context;
    this.#failures = context.failures;
  }

  /** Requests of the company that have failed in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** A request that writes no entry. Its failure stops the batch: throws Stopped. */
  async ask<Result>(send: (request: RequestOptions) => Promise<Result>): Promise<Result> {
    const { pace, signal, priority } = this.#to;
    try {
      return await pace.run({ signal, priority }, () => send({ signal, priority }));
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      return await this.stopFor(error, error.retryAfterMs ?? restMs(this.#failures + 1));
    }
  }

  /** A request that can be done without: null where no answer has come within so long. Any other failure throws Stopped. */
  async askWithin<Result>(
    withinMs: number,
    send: (request: RequestOptions) => Promise<Result>,
  ): Promise<Result | null> {
    const { signal: outer } = this.#to;
    return this.ask(async ({ signal, priority }) => {
      const limit = AbortSignal.timeout(withinMs);
      try {
        return await send({ signal: AbortSignal.any([signal, limit]), priority });
      } catch (error) {
        outer.throwIfAborted();
        const isSilent = error instanceof ErpError && error.means === 'doubt' && error.problem === null;
        if (limit.aborted || isSilent) return null;
        throw error;
      }
    });
  }

  /** Entries by key, looked up. Throws Stopped. */
  async find(
    entries: readonly Pick<ErpEntry, 'key' | 'date'>[],
  ): Promise<{ found: Map<string, FoundEntry[]>; isComplete: boolean }> {
    const { target, installation, clock } = this.#to;
    const today = businessDate(new Date(clock.now()).toISOString(), installation.timezone) ?? '';
    const keys = entries.map(({ key, date }) => ({ key, dates: searchDays(target.capabilities, date, today) }));
    const { found, isComplete } = await this.ask((request) => target.find(keys, request));
    return { found: Map.groupBy(found, ({ key }) => key ?? ''), isComplete };
  }

  /** Deletes drafts; returns how many. One that the ERP does not let go stays, and is never posted by us. Throws Stopped. */
  async deleteDrafts(ids: readonly string[]): Promise<number> {
    const { target, db, lease, strategy, log } = this.#to;
    if (ids.length === 0 || !strategy.canDeleteDrafts) return 0;
    const attemptId = randomUUID();
    return this.ask(async (request) => {
      if (!(await renewLease(db, lease))) throw new LeaseLost(lease);
      try {
        await target.deleteDrafts(ids, { ...request, attemptId });
        return ids.length;
      } catch (error) {
        const isAnswered = error instanceof ErpError && (error.means === 'refused' || error.problem !== null);
        if (!isAnswered) throw error;
        log.warn({ drafts: ids, said: told(error.message) }, 'the ERP does not delete drafts');
        return 0;
      }
    });
  }

  /**
   * Sends a request that writes entries, once its turn has come and the units are noted as being sent. Gives its result or its
   * error, which the caller records; null where none of the units was to be sent any more.
   */
  async write<Result>(
    items: readonly Item[],
    attemptIdFor: (items: readonly Item[]) => string,
    send: (items: readonly Item[], request: WriteOptions) => Promise<Result>,
  ): Promise<Written<Result> | null> {
    const { db, installation, lease, pace, clock, signal, priority } = this.#to;
    let noted: readonly Item[] = items;
    try {
      return await pace.run({ signal, priority }, async () => {
        const wanted = items.map(({ unit }) => unit.unit_id);
        const beforeMs = clock.elapsed();
        const ids = await underLease(db, lease, (trx) =>
          noteSending(trx, installation.id, wanted, attemptIdFor(items)),
        );
        const sending = new Set(ids);
        noted = items.filter(({ unit }) => sending.has(unit.unit_id));
        if (noted.length === 0) return null;
        // A process that stood still in between may have lost the lease, and who has taken over waits for no request of its own.
        if (clock.elapsed() - beforeMs > leaseSeconds(lease) * 1000) throw new LeaseLost(lease);
        // Of the body as it is sent, should somebody have taken a unit out of it.
        const result = await send(noted, { signal, priority, attemptId: attemptIdFor(noted) });
        return { result, items: noted };
      });
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      return { error, items: noted };
    }
  }

  /** Notes that the company's requests fail, and for how long none is sent; throws Stopped. */
  async stopFor(error: ErpError, waitMs: number): Promise<never> {
    const { db, lease, target } = this.#to;
    const plain = plainErrorOf(error, target.company);
    this.#failures += 1;
    await underLease(db, lease, (trx) =>
      noteFailure(trx, lease, { code: plain.code, message: told(plain.message), waitMs }),
    );
    throw new Stopped(plain);
  }
}
