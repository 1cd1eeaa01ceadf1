import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../../config/load-config.ts';
import { LeaseLost, leaseSeconds, renewLease, underLease } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import { businessDate } from '../../domain/dates.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { type CompanyLease, noteFailure } from '../company-lease.ts';
import type { FoundEntry } from '../erp-entry.ts';
import type { Pace } from '../erp-pace.ts';
import { noteSending } from '../outbox/record-outcomes.ts';
import type { OutboxUnit } from '../outbox/unit.ts';
import { ErpError, type ErpTarget, type RequestOptions, type WriteOptions } from '../port.ts';
import { restMs, type Strategy, searchDays } from '../strategy.ts';
import type { Item } from './attempt.ts';
import { plainErrorOf } from './delivery-errors.ts';
import { messageText } from './outcomes.ts';

/** The inputs of the requests of a batch. */
export interface RequestContext {
  db: Db;
  installation: InstallationConfig;
  target: ErpTarget;
  pace: Pace;
  strategy: Strategy;
  lease: CompanyLease;
  /** Number of consecutive failed requests to the company before this batch. */
  failures: number;
  clock: Clock;
  signal: AbortSignal;
  priority: number;
  log: { warn(fields: object, message: string): void };
}

/** The result or error of a writing request, with the items that it contained. */
export type Written<Result> = { items: readonly Item[] } & ({ result: Result } | { error: ErpError });

/** What a look-up of a unit needs. */
export type LookedUp = Pick<OutboxUnit, 'erp_key' | 'unit_date' | 'first_sent_at'>;

/** The batch cannot continue, because of the ERP or the connection. */
export class Stopped extends Error {
  readonly plain: PlainError;

  constructor(plain: PlainError) {
    super(plain.message);
    this.plain = plain;
  }
}

/**
 * Sends the requests of one batch, each at the company's pace and under its lease. After an error it stops the batch.
 */
export class Requests {
  readonly #to: RequestContext;
  #failures: number;

  constructor(context: RequestContext) {
    this.#to = context;
    this.#failures = context.failures;
  }

  /** Number of consecutive failed requests to the company. */
  get failures(): number {
    return this.#failures;
  }

  /** Sends a request that writes no entry. An error stops the batch: throws Stopped. */
  async ask<Result>(send: (request: RequestOptions) => Promise<Result>): Promise<Result> {
    const { pace, signal, priority } = this.#to;
    try {
      return await pace.run({ signal, priority }, send);
    } catch (error) {
      return await this.#stopFor(error);
    }
  }

  /** Throws Stopped if a limit has no room for the look-ups and writes of a batch. */
  async roomForBatch(): Promise<void> {
    try {
      await this.#to.pace.roomForBatch();
    } catch (error) {
      await this.#stopFor(error);
    }
  }

  /**
   * Sends a request that is not essential. Returns null if there is no answer in time. Any other error throws Stopped.
   */
  async askWithin<Result>(
    withinMs: number,
    send: (request: RequestOptions) => Promise<Result>,
  ): Promise<Result | null> {
    const { signal: outer } = this.#to;
    return this.ask(async ({ signal, ...request }) => {
      const limit = AbortSignal.timeout(withinMs);
      try {
        return await send({ ...request, signal: AbortSignal.any([signal, limit]) });
      } catch (error) {
        outer.throwIfAborted();
        const isSilent = error instanceof ErpError && error.means === 'doubt' && error.problem === null;
        if (limit.aborted || isSilent) return null;
        throw error;
      }
    });
  }

  /** Looks up units by key. Throws Stopped. */
  async find(units: readonly LookedUp[]): Promise<{ found: Map<string, FoundEntry[]>; isComplete: boolean }> {
    const { target, installation, clock } = this.#to;
    const today = businessDate(new Date(clock.now()).toISOString(), installation.timezone) ?? '';
    const keys = units.map(({ erp_key: key, unit_date: date, first_sent_at: since }) => ({
      ...{ key, since, dates: searchDays(target.capabilities, date, today) },
    }));
    const { found, isComplete } = await this.ask((request) => target.find(keys, request));
    return { found: Map.groupBy(found, ({ key }) => key ?? ''), isComplete };
  }

  /**
   * Deletes drafts; returns their number. If the ERP refuses, the drafts stay, and vetledger never posts them. Throws
   * Stopped.
   */
  async withdrawDrafts(ids: readonly string[]): Promise<number> {
    const { target, db, lease, strategy, log } = this.#to;
    if (ids.length === 0 || !strategy.canWithdrawDrafts) return 0;
    const attemptId = randomUUID();
    return this.ask(async (request) => {
      if (!(await renewLease(db, lease))) throw new LeaseLost(lease);
      try {
        await target.withdrawDrafts(ids, { ...request, attemptId });
        return ids.length;
      } catch (error) {
        const isAnswered = error instanceof ErpError && (error.means === 'refused' || error.problem !== null);
        if (!isAnswered) throw error;
        log.warn({ drafts: ids, reason: messageText(error.message) }, 'the ERP refused to delete drafts');
        return 0;
      }
    });
  }

  /**
   * Sends a request that writes entries, when its turn comes and its units are marked as being sent. Returns its result
   * or error, which the caller records. Returns null if none of the units may be sent any more.
   */
  async write<Result>(
    items: readonly Item[],
    attemptIdFor: (items: readonly Item[]) => string,
    send: (items: readonly Item[], request: WriteOptions) => Promise<Result>,
  ): Promise<Written<Result> | null> {
    const { db, installation, lease, pace, clock, signal, priority } = this.#to;
    let noted: readonly Item[] = items;
    try {
      return await pace.write({ signal, priority }, async (request) => {
        const wanted = items.map(({ unit }) => unit.unit_id);
        const beforeMs = clock.elapsed();
        const sending = await underLease(db, lease, (trx) =>
          noteSending(trx, installation.id, wanted, attemptIdFor(items)),
        );
        const firstSent = new Map(sending.map(({ unit_id: id, first_sent_at: at }) => [id, at]));
        noted = items.flatMap(({ unit, entry }) => {
          const at = firstSent.get(unit.unit_id);
          return at === undefined ? [] : [{ unit: { ...unit, first_sent_at: at }, entry }];
        });
        if (noted.length === 0) return null;
        // A process that was suspended meanwhile may have lost the lease. The next holder does not wait for a request
        // that starts now.
        if (clock.elapsed() - beforeMs > leaseSeconds(lease) * 1000) throw new LeaseLost(lease);
        // The id matches the units that are sent, since some may have been excluded meanwhile.
        const result = await send(noted, { ...request, attemptId: attemptIdFor(noted) });
        return { result, items: noted };
      });
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      return { error, items: noted };
    }
  }

  async #stopFor(error: unknown): Promise<never> {
    if (!(error instanceof ErpError) || this.#to.signal.aborted) throw error;
    return this.stopFor(error, error.retryAfterMs ?? restMs(this.#failures + 1));
  }

  /** Records a failed request to the company and how long to wait, and throws Stopped. */
  async stopFor(error: ErpError, waitMs: number): Promise<never> {
    const { db, lease, target } = this.#to;
    const plain = plainErrorOf(error, target.company);
    this.#failures += 1;
    await underLease(db, lease, (trx) =>
      noteFailure(trx, lease, { code: plain.code, message: messageText(plain.message), waitMs }),
    );
    throw new Stopped(plain);
  }
}
