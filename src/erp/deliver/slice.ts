import type { InstallationConfig } from '../../config/load-config.ts';
import { LeaseLost, underLease } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../../db/statistics.ts';
import { keepLease } from '../../db/with-lease.ts';
import type { Clock } from '../../domain/clock.ts';
import { erpProblemCatalogue } from '../../texts/erp-problems.ts';
import { deliveryErrors } from '../../texts/errors/deliveries.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { awaitsSearch } from '../claims/claim-store.ts';
import { answeredCompany, formerName, type NamingObstacle, useCompanyName } from '../company-identity.ts';
import { type CompanyLease, noteDoubtsResolved, noteFailure, noteOutcome, takeCompany } from '../company-lease.ts';
import { companyKey } from '../entry-key.ts';
import { erpPriorities, Pace } from '../erp-pace.ts';
import {
  type ClaimScope,
  claimDoubtful,
  claimDrafted,
  claimDue,
  doubtLeftSending,
  followConfiguration,
  hasSending,
  takeOverSending,
} from '../outbox/claim-units.ts';
import { countInDoubt, dueWork, pauseOf } from '../outbox/outbox-queries.ts';
import { claimSweeps } from '../outbox/unwanted-drafts.ts';
import { type CompanyRef, ErpError, type ErpTarget } from '../port.ts';
import { restMs, type Strategy, strategyOf } from '../strategy.ts';
import { translate } from '../translate.ts';
import { Batch, type BatchReport, type Translate } from './batch.ts';
import { type ClaimVerdict, checkClaim, type Searches } from './check-claim.ts';
import { plainErrorOf } from './delivery-errors.ts';
import type { RequestContext } from './delivery-requests.ts';
import { messageText } from './outcomes.ts';

/** The part of a logger that deliveries use; pino's loggers have it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface DeliverPorts {
  db: Db;
  databaseId: string;
  installation: InstallationConfig;
  target: ErpTarget;
  /**
   * Name of the lease holder. A call with the same name, for the same installation, is the next attempt of the same
   * work, and takes over at once.
   */
  holder: string;
  clock: Clock;
  /** Aborts when the delivery has to stop. */
  signal: AbortSignal;
  /** Sleeps. Rejects when the delivery has to stop. */
  pause(ms: number): Promise<void>;
  onProgress(counts: { delivered: number; left: number }): void;
  log: Logger;
  /** The searches of this process; absent if there were none. */
  searches?: Searches;
}

export interface SliceReport {
  delivered: number;
  refused: number;
  /** Number of units that are in doubt at the end. */
  uncertain: number;
  /** Number of units that will be due without any action by a person. */
  left: number;
  /** Milliseconds until a unit is due: 0 for now, null if none is. */
  nextDueMs: number | null;
  /**
   * The reason why nothing more was sent, for instance because the ERP is down, the delivery is paused, or another
   * process delivers; null otherwise.
   */
  waitingFor: PlainError | null;
}

/** Looks up units in doubt, and sends units that are due, batch by batch, for at most `longestMs`. */
export function deliverSlice(ports: DeliverPorts, options: { longestMs: number }): Promise<SliceReport> {
  const { databaseId, installation, target } = ports;
  const context = { databaseId, mapping: installation.mapping, capabilities: target.capabilities };
  return new Slice(ports, (unit) => translate(unit, context)).run(options);
}

/** Codes of problems that another mapping may solve. */
const retriedCodes = Object.entries(erpProblemCatalogue).flatMap(([code, { retried }]) => (retried ? [code] : []));

/** How long, and how often, to try for the company's lease while another installation uses it. */
const longestBusyMs = 5_000;
const busyPollMs = 250;
/** Delay if another process holds the lease, or took it over. */
const busyAgainMs = 2_000;

/** The result of a turn: a batch was processed, nothing was due, the lease was busy, or the delivery has to wait. */
type Turn = { is: 'batch' } | { is: 'idle' } | { is: 'busy' } | { is: 'waiting'; for: PlainError; ms: number | null };

/** A slice of a delivery. It processes batch after batch, each under the company's lease. */
export class Slice {
  readonly #ports: DeliverPorts;
  readonly #translate: Translate;
  readonly #strategy: Strategy;
  readonly #pace: Pace;
  readonly #scope: ClaimScope;
  #delivered = 0;
  #refused = 0;
  #left = 0;
  /** Whether an earlier batch may have left units that are marked as being sent. */
  #mayHaveLeftSending = true;
  /**
   * Whether the configuration names the company differently than at the last delivery. The ERP then decides whether it
   * is the same company.
   */
  #isRenamed = false;
  readonly #searches: Searches;
  /** The company as the ERP identifies it. */
  #answered: CompanyRef | null = null;

  constructor(ports: DeliverPorts, translateUnit: Translate) {
    const { target, installation } = ports;
    this.#ports = ports;
    this.#translate = translateUnit;
    this.#strategy = strategyOf(target.capabilities);
    this.#searches = ports.searches ?? new Map();
    this.#scope = { installation: installation.id, company: companyKey(target.company) };
    this.#pace = new Pace(ports, this.#scope.company, target);
  }

  async run({ longestMs }: { longestMs: number }): Promise<SliceReport> {
    const { db, installation, clock, signal } = this.#ports;
    const endMs = clock.elapsed() + longestMs;
    this.#isRenamed = (await formerName(db, installation.id, this.#scope.company)) !== null;
    if (!this.#isRenamed) await this.#followConfiguration();
    if (this.#strategy.unsafe !== null) return this.#report({ for: deliveryErrors.locksUnreadable(), ms: null });
    const { left } = await dueWork(db, installation.id);
    this.#left = left;
    if (left >= refreshStatisticsFromRows) await refreshStatistics(db, 'deliver');
    if (!this.#isRenamed && !(await this.#hasWork())) return this.#report(null);
    for (let busyMs = 0; clock.elapsed() < endMs; ) {
      signal.throwIfAborted();
      const pause = await pauseOf(db, installation.id);
      if (pause !== null) {
        const { installation: id, acted_by: by, reason } = pause;
        return this.#report({ for: deliveryErrors.paused({ installation: id, by, reason }), ms: null });
      }
      const turn = await this.#turn();
      if (turn.is === 'idle') break;
      if (turn.is === 'waiting') return this.#report(turn);
      if (turn.is === 'batch') busyMs = 0;
      else if (busyMs >= longestBusyMs) return this.#report({ for: deliveryErrors.companyBusy(), ms: busyAgainMs });
      else {
        await this.#ports.pause(busyPollMs);
        busyMs += busyPollMs;
      }
    }
    return this.#report(null);
  }

  /**
   * Processes the most urgent batch. The order is: units in doubt, drafts of the accountant, units that are due, and
   * surplus drafts.
   */
  async #turn(): Promise<Turn> {
    const { db, installation, target, holder, clock, signal } = this.#ports;
    // With the installation in the name, two installations of one company take turns even in one process.
    const ours = `${holder}/${installation.id}`;
    const taken = await takeCompany(db, target.company, ours, { mayWorkMs: this.#strategy.lookUpAfterMs });
    if (taken.lease === null) return { is: 'busy' };
    const { lease, lookUpInMs, waitMs, error, failures } = taken;
    try {
      return await keepLease({ db, clock, signal }, lease, async ({ signal: held }): Promise<Turn> => {
        if (waitMs > 0) {
          const failed = error === null ? deliveryErrors.failedRecently() : deliveryErrors.failedBefore(error);
          return { is: 'waiting', for: failed, ms: waitMs };
        }
        if (lookUpInMs !== null && lookUpInMs > 0)
          return { is: 'waiting', for: deliveryErrors.takenOver(), ms: lookUpInMs };
        const obstacle = await this.#useName(lease, failures, held);
        if (obstacle !== null) return { is: 'waiting', ...obstacle };
        const contextWith = (priority: number) => this.#context(lease, failures, held, priority);
        const batchWith = (priority: number) => this.#batch(contextWith(priority));
        if (lookUpInMs !== null) await this.#resolveDoubts(lease, batchWith(erpPriorities.live));
        else if (this.#mayHaveLeftSending) await this.#doubtLeftSending(lease);
        this.#mayHaveLeftSending = false;
        return this.#oneBatch(batchWith, contextWith(erpPriorities.live));
      });
    } catch (caught) {
      if (caught instanceof LeaseLost) return { is: 'waiting', for: deliveryErrors.companyBusy(), ms: busyAgainMs };
      throw caught;
    }
  }

  async #followConfiguration(): Promise<void> {
    const { db, installation } = this.#ports;
    const { mappingHash } = installation;
    await db.transaction((trx) => followConfiguration(trx, this.#scope, { mappingHash, retriedCodes }));
  }

  /** The reason why nothing may be sent under the configured name of the company; null if it may. */
  async #useName(lease: CompanyLease, failures: number, signal: AbortSignal): Promise<NamingObstacle | null> {
    const { db, target, installation, holder, clock } = this.#ports;
    const request = { signal, priority: erpPriorities.live };
    try {
      this.#answered ??= await answeredCompany(target, this.#pace, request);
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      const plain = plainErrorOf(error, target.company);
      const ms = error.retryAfterMs ?? restMs(failures + 1);
      const noted = { code: plain.code, message: messageText(plain.message), waitMs: ms };
      await underLease(db, lease, (trx) => noteFailure(trx, lease, noted));
      return { for: plain, ms };
    }
    const { id, currency } = installation;
    const naming = { db, installation: id, configured: target.company, answered: this.#answered, currency };
    const mayWorkMs = this.#strategy.lookUpAfterMs;
    const obstacle = await useCompanyName({ ...naming, holder, clock, signal, mayWorkMs }, lease);
    if (obstacle !== null) {
      if (obstacle.ms === null) await underLease(db, lease, (trx) => noteOutcome(trx, target.company, obstacle.for));
      return obstacle;
    }
    if (this.#isRenamed) await this.#followConfiguration();
    this.#isRenamed = false;
    return null;
  }

  /** Whether there is any work that requires the company's lease. */
  async #hasWork(): Promise<boolean> {
    const { db } = this.#ports;
    const limit = 1;
    const claims = [claimDoubtful, claimDue, claimDrafted, claimSweeps];
    for (const claim of claims) if ((await claim(db, this.#scope, limit)).length > 0) return true;
    return (await hasSending(db, this.#scope)) || (await awaitsSearch(db, this.#scope));
  }

  async #oneBatch(batchWith: (priority: number) => Batch, context: RequestContext): Promise<Turn> {
    const { db } = this.#ports;
    const { lookUpKeys } = this.#strategy;
    const doubtful = await claimDoubtful(db, this.#scope, lookUpKeys);
    if (doubtful.length > 0) return this.#counted(await batchWith(erpPriorities.live).resolve(doubtful));
    const drafted = await claimDrafted(db, this.#scope, lookUpKeys);
    if (drafted.length > 0) return this.#counted(await batchWith(erpPriorities.review).review(drafted));
    const claim = await this.#claim(context);
    if (claim.is === 'again') return { is: 'batch' };
    if (claim.is === 'waiting') return claim;
    const due = await claimDue(db, this.#scope, claim.mostEntries);
    if (due.length === 0) {
      const late = await claimSweeps(db, this.#scope, lookUpKeys);
      return late.length === 0 ? { is: 'idle' } : this.#counted(await batchWith(erpPriorities.review).sweep(late));
    }
    const isLive = due.some(({ is_backlog: isBacklog }) => !isBacklog);
    return this.#counted(await batchWith(isLive ? erpPriorities.live : erpPriorities.backlog).sendDue(due, claim));
  }

  /** Whether this database may send to the company. */
  async #claim(context: RequestContext): Promise<ClaimVerdict> {
    const { db, databaseId } = this.#ports;
    const isSending = (await claimDue(db, this.#scope, 1)).length > 0;
    return checkClaim({ ...context, databaseId, searches: this.#searches }, { isSending });
  }

  #context(lease: CompanyLease, failures: number, signal: AbortSignal, priority: number): RequestContext {
    const { db, installation, target, clock, log } = this.#ports;
    return {
      ...{ db, installation, target, lease, failures, clock, signal, priority, log },
      ...{ pace: this.#pace, strategy: this.#strategy },
    };
  }

  #batch(context: RequestContext): Batch {
    const { erp } = this.#ports.installation;
    return new Batch({
      ...context,
      translate: this.#translate,
      isReview: 'post' in erp && erp.post === 'draft' && this.#strategy.draftsFirst,
    });
  }

  /**
   * Looks up the units that a former lease holder was sending, for every installation of the company, before anything
   * else is sent.
   */
  async #resolveDoubts(lease: CompanyLease, batch: Batch): Promise<void> {
    const { db, installation } = this.#ports;
    const sending = await underLease(db, lease, (trx) => takeOverSending(trx, lease.company));
    const others = sending.filter((unit) => unit.installation !== installation.id);
    if (this.#strategy.afterDoubt === 'look_up') await batch.resolveOthers(others, this.#strategy.lookUpKeys);
    await underLease(db, lease, (trx) => noteDoubtsResolved(trx, lease));
  }

  /**
   * Puts units in doubt that an earlier batch left marked as being sent. This happens if the connection failed between
   * two of its requests.
   */
  async #doubtLeftSending(lease: CompanyLease): Promise<void> {
    const { db } = this.#ports;
    if (!(await hasSending(db, this.#scope))) return;
    await underLease(db, lease, (trx) =>
      doubtLeftSending(trx, this.#scope, { mayWorkMs: this.#strategy.lookUpAfterMs }),
    );
  }

  #counted({ delivered, refused }: BatchReport): Turn {
    this.#delivered += delivered;
    this.#refused += refused;
    this.#left = Math.max(0, this.#left - delivered - refused);
    this.#ports.onProgress({ delivered: this.#delivered, left: this.#left });
    return { is: 'batch' };
  }

  /** `waiting`: why nothing more is sent, and for how long; `ms` is null if a person has to act first. */
  async #report(waiting: { for: PlainError; ms: number | null } | null): Promise<SliceReport> {
    const { db, installation } = this.#ports;
    const work = await dueWork(db, installation.id);
    // The first entry requires another search, even if no unit is due.
    const isLookDue = this.#strategy.afterDoubt === 'look_up' && (await awaitsSearch(db, this.#scope));
    const nextDueMs = work.nextDueMs ?? (isLookDue ? 0 : null);
    const isDue = nextDueMs !== null && (waiting === null || waiting.ms !== null);
    return {
      ...{ delivered: this.#delivered, refused: this.#refused, left: work.left },
      uncertain: await countInDoubt(db, installation.id),
      nextDueMs: isDue ? Math.max(nextDueMs, waiting?.ms ?? 0) : null,
      waitingFor: waiting && (nextDueMs !== null || waiting.ms === null) ? waiting.for : null,
    };
  }
}
