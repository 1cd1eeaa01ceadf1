import type { InstallationConfig } from '../../config/load-config.ts';
import { LeaseLost, underLease } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../../db/statistics.ts';
import { keepLease } from '../../db/with-lease.ts';
import type { Clock } from '../../domain/clock.ts';
import { erpProblemCatalogue } from '../../texts/erp-problems.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { awaitsLook } from '../claims/claim-store.ts';
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
import { countInDoubt, type DeliveryPause, dueWork, pauseOf } from '../outbox/questions-of-outbox.ts';
import { claimSweeps } from '../outbox/unwanted-drafts.ts';
import { type CompanyRef, ErpError, type ErpTarget } from '../port.ts';
import { restMs, type Strategy, strategyOf } from '../strategy.ts';
import { translate } from '../translate.ts';
import { Batch, type BatchReport, type Translate } from './batch.ts';
import { type ClaimVerdict, checkClaim, type Looks } from './check-claim.ts';
import { plainErrorOf } from './delivery-errors.ts';
import type { RequestContext } from './delivery-requests.ts';
import { told } from './outcomes.ts';

/** What a log takes; pino's loggers do. */
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
   * Who delivers: the same name again, for the same installation, is the next attempt of the same work, and takes over from the
   * one before at once.
   */
  holder: string;
  clock: Clock;
  /** Aborts when the work is to stop. */
  signal: AbortSignal;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
  onProgress(counts: { delivered: number; left: number }): void;
  log: Logger;
  /** The looks of this process; absent: it has not looked yet. */
  looks?: Looks;
}

export interface SliceReport {
  delivered: number;
  refused: number;
  /** Units that are in doubt at the end. */
  uncertain: number;
  /** Due now or later without anybody doing something. */
  left: number;
  /** Until something is due again; 0: now; null: nothing is. */
  nextDueMs: number | null;
  /** Why nothing more was sent: the ERP is down, throttles or is locked, delivery is paused, or another process delivers. */
  waitingFor: PlainError | null;
}

/** Resolves what is in doubt, then sends what is due, batch by batch, for `longestMs` at most. */
export function deliverSlice(ports: DeliverPorts, options: { longestMs: number }): Promise<SliceReport> {
  const { databaseId, installation, target } = ports;
  const context = { databaseId, mapping: installation.mapping, capabilities: target.capabilities };
  return new Slice(ports, (unit) => translate(unit, context)).run(options);
}

/** Codes of problems that another mapping may solve. */
const retriedCodes = Object.entries(erpProblemCatalogue).flatMap(([code, { retried }]) => (retried ? [code] : []));

/** Another installation's batch is waited for so long at most, and asked after so often. */
const longestBusyMs = 5_000;
const busyPollMs = 250;
/** After a lease that somebody else has, or took. */
const busyAgainMs = 2_000;

/** What one turn of a slice came to: a batch, nothing left to do, or something that has to be waited for. */
type Turn = { is: 'batch' } | { is: 'idle' } | { is: 'busy' } | { is: 'waiting'; for: PlainError; ms: number | null };

/** One slice of a delivery: batch after batch, each under the company's lease. */
export class Slice {
  readonly #ports: DeliverPorts;
  readonly #translate: Translate;
  readonly #strategy: Strategy;
  readonly #pace: Pace;
  readonly #scope: ClaimScope;
  #delivered = 0;
  #refused = 0;
  #left = 0;
  /** An earlier batch may have left units as being sent. */
  #mayHaveLeftSending = true;
  /** The configuration names the company otherwise than at the last delivery: the ERP tells whether it is another one. */
  #isRenamed = false;
  readonly #looks: Looks;
  /** As the ERP tells it apart. */
  #answered: CompanyRef | null = null;

  constructor(ports: DeliverPorts, translateUnit: Translate) {
    const { target, installation } = ports;
    this.#ports = ports;
    this.#translate = translateUnit;
    this.#strategy = strategyOf(target.capabilities);
    this.#looks = ports.looks ?? new Map();
    this.#scope = { installation: installation.id, company: companyKey(target.company) };
    this.#pace = new Pace(ports, this.#scope.company, target.capabilities.pace);
  }

  async run({ longestMs }: { longestMs: number }): Promise<SliceReport> {
    const { db, installation, clock, signal } = this.#ports;
    const endMs = clock.elapsed() + longestMs;
    this.#isRenamed = (await formerName(db, installation.id, this.#scope.company)) !== null;
    if (!this.#isRenamed) await this.#followConfiguration();
    if (this.#strategy.unsafe !== null) return this.#report({ for: locksUnreadable, ms: null });
    const { left } = await dueWork(db, installation.id);
    this.#left = left;
    if (left >= refreshStatisticsFromRows) await refreshStatistics(db, 'deliver');
    if (!this.#isRenamed && !(await this.#hasWork())) return this.#report(null);
    for (let busyMs = 0; clock.elapsed() < endMs; ) {
      signal.throwIfAborted();
      const pause = await pauseOf(db, installation.id);
      if (pause !== null) return this.#report({ for: pausedBy(pause), ms: null });
      const turn = await this.#turn();
      if (turn.is === 'idle') break;
      if (turn.is === 'waiting') return this.#report(turn);
      if (turn.is === 'batch') busyMs = 0;
      else if (busyMs >= longestBusyMs) return this.#report({ for: companyBusy, ms: busyAgainMs });
      else {
        await this.#ports.pause(busyPollMs);
        busyMs += busyPollMs;
      }
    }
    return this.#report(null);
  }

  /** One batch, whatever is most urgent: doubts, then drafts that were not looked at for long, then what is due, then drafts that came late. */
  async #turn(): Promise<Turn> {
    const { db, installation, target, holder, clock, signal } = this.#ports;
    // Two installations of one company take turns, whoever delivers both of them.
    const ours = `${holder}/${installation.id}`;
    const taken = await takeCompany(db, target.company, ours, { mayWorkMs: this.#strategy.lookUpAfterMs });
    if (taken.lease === null) return { is: 'busy' };
    const { lease, lookUpInMs, waitMs, error, failures } = taken;
    try {
      return await keepLease({ db, clock, signal }, lease, async ({ signal: held }): Promise<Turn> => {
        if (waitMs > 0) return { is: 'waiting', for: toldAgain(error), ms: waitMs };
        if (lookUpInMs !== null && lookUpInMs > 0) return { is: 'waiting', for: takenOver, ms: lookUpInMs };
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
      if (caught instanceof LeaseLost) return { is: 'waiting', for: companyBusy, ms: busyAgainMs };
      throw caught;
    }
  }

  async #followConfiguration(): Promise<void> {
    const { db, installation } = this.#ports;
    const { mappingHash } = installation;
    await db.transaction((trx) => followConfiguration(trx, this.#scope, { mappingHash, retriedCodes }));
  }

  /** What keeps everything from the company under the name that the configuration has for it; null where nothing does. */
  async #useName(lease: CompanyLease, failures: number, signal: AbortSignal): Promise<NamingObstacle | null> {
    const { db, target, installation, holder, clock } = this.#ports;
    const request = { signal, priority: erpPriorities.live };
    try {
      this.#answered ??= await answeredCompany(target, this.#pace, request);
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      const plain = plainErrorOf(error, target.company);
      const ms = error.retryAfterMs ?? restMs(failures + 1);
      const noted = { code: plain.code, message: told(plain.message), waitMs: ms };
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

  /** Whether the company's lease is worth waiting for. */
  async #hasWork(): Promise<boolean> {
    const { db } = this.#ports;
    const limit = 1;
    const claims = [claimDoubtful, claimDue, claimDrafted, claimSweeps];
    for (const claim of claims) if ((await claim(db, this.#scope, limit)).length > 0) return true;
    return (await hasSending(db, this.#scope)) || (await awaitsLook(db, this.#scope));
  }

  async #oneBatch(batchWith: (priority: number) => Batch, context: RequestContext): Promise<Turn> {
    const { db } = this.#ports;
    const { batchEntries } = this.#strategy;
    const doubtful = await claimDoubtful(db, this.#scope, batchEntries);
    if (doubtful.length > 0) return this.#counted(await batchWith(erpPriorities.live).resolve(doubtful));
    const drafted = await claimDrafted(db, this.#scope, batchEntries);
    if (drafted.length > 0) return this.#counted(await batchWith(erpPriorities.review).review(drafted));
    const claim = await this.#claim(context);
    if (claim.is === 'again') return { is: 'batch' };
    if (claim.is === 'waiting') return claim;
    const due = await claimDue(db, this.#scope, claim.mostEntries);
    if (due.length === 0) {
      const late = await claimSweeps(db, this.#scope, batchEntries);
      return late.length === 0 ? { is: 'idle' } : this.#counted(await batchWith(erpPriorities.review).sweep(late));
    }
    const isLive = due.some(({ is_backlog: isBacklog }) => !isBacklog);
    return this.#counted(await batchWith(isLive ? erpPriorities.live : erpPriorities.backlog).sendDue(due, claim));
  }

  /** Whether the company is this database's to send to. */
  async #claim(context: RequestContext): Promise<ClaimVerdict> {
    const { db, databaseId } = this.#ports;
    const isSending = (await claimDue(db, this.#scope, 1)).length > 0;
    return checkClaim({ ...context, databaseId, looks: this.#looks }, { isSending });
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

  /** Looks up what a former holder was sending, of every installation of the company, before anything else is sent. */
  async #resolveDoubts(lease: CompanyLease, batch: Batch): Promise<void> {
    const { db, installation } = this.#ports;
    const sending = await underLease(db, lease, (trx) => takeOverSending(trx, lease.company));
    const others = sending.filter((unit) => unit.installation !== installation.id);
    if (this.#strategy.afterDoubt === 'look_up') await batch.resolveOthers(others, this.#strategy.batchEntries);
    await underLease(db, lease, (trx) => noteDoubtsResolved(trx, lease));
  }

  /** A batch that stopped, because the way to the ERP broke between two of its requests, leaves what it had created as being sent. */
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

  /** `waiting`: why nothing more is sent, and for how long; null: until somebody does something. */
  async #report(waiting: { for: PlainError; ms: number | null } | null): Promise<SliceReport> {
    const { db, installation } = this.#ports;
    const work = await dueWork(db, installation.id);
    // The first entry is looked at once more, though nothing else may be due.
    const isLookDue = this.#strategy.afterDoubt === 'look_up' && (await awaitsLook(db, this.#scope));
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

const companyBusy: PlainError = {
  code: 'erp_company_busy',
  message: 'Another delivery sends to the same company of the ERP.',
  todo: 'Nothing: they take turns.',
};

const takenOver: PlainError = {
  code: 'erp_taken_over',
  message: 'An earlier delivery to the company ended without order: the ERP may still be at work on what it sent.',
  todo: 'Nothing: what was sent is looked up once the ERP can be done, and delivery goes on by itself.',
};

const locksUnreadable: PlainError = {
  code: 'erp_locks_unreadable',
  message: 'The ERP moves entries of closed periods to another date, and its periods cannot be read.',
  todo: 'Give the API user the right to read the periods; nothing is sent before.',
};

function pausedBy({ installation, acted_by: by, reason }: DeliveryPause): PlainError {
  return {
    code: 'delivery_paused',
    message: `the delivery of installation ${installation} was paused by ${by}: ${reason}`,
    todo: 'Run `vetledger deliver resume` when it may go on.',
  };
}

/** What kept an earlier batch, while it still does. */
function toldAgain(error: { code: string; message: string } | null): PlainError {
  const { code, message } = error ?? { code: 'erp_unreachable', message: 'The ERP failed a moment ago.' };
  return { code, message, todo: 'Nothing, usually: it is tried again by itself. `vetledger erp check` tells more.' };
}
