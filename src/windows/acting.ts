import { randomUUID } from 'node:crypto';
import {
  type AskedAction,
  approvalRequest,
  askedAction,
  askedBy,
  expireAction,
  hasOutcome,
  isSamePerson,
  pendingActions,
  refuseAction,
  withdrawAction,
} from '../actions/asking.ts';
import { ActionOver, endAction, recordAction } from '../actions/record.ts';
import { changedIdentities } from '../bookkeeping/identity.ts';
import { mappingsInForce } from '../bookkeeping/mapping-versions.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { type AskedKind, approvedKinds, isAskedKind, permittedActions } from '../console/users/permitted-actions.ts';
import { Rights } from '../console/users/rights.ts';
import { rolesOf, subjectNamed } from '../console/users/subjects.ts';
import { LeaseBusy, LeaseLost, type Transact } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import { withLease } from '../db/with-lease.ts';
import { forEachAtATime, sleep } from '../domain/concurrency.ts';
import { dateIn } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { isGrpcServiceError } from '../runtime/temporal-errors.ts';
import { actionErrors } from '../texts/errors/actions.ts';
import type { AskedWindows } from './asked-windows.ts';
import { LongActions } from './long-actions.ts';
import { startLooks } from './looks.ts';
import { performers } from './performers/index.ts';
import { isLong, type LongKind } from './performers/long.ts';
import { isOutside, type OutsideKind, type OutsidePerformer, outsidePerformers } from './performers/windows.ts';

/** Interval of looks for requests of the console. */
const lookEveryMs = 1_000;
/** Installations of one look whose actions are performed at the same time. */
const installationsAtATime = 4;

/** The parts of the app that acting uses. */
export type ActingPorts = Pick<App, 'db' | 'promptDb' | 'config' | 'clock' | 'log'>;

/**
 * Performs the actions that users ask for in the console, those of one installation one after another. It is a loop of the daemon that depends only on
 * PostgreSQL, and nothing waits for it.
 */
export function startActing(app: App, windows: AskedWindows | null, everyMs = lookEveryMs): { stop(): Promise<void> } {
  const acting = new Acting(app, windows);
  // The price of a replay may take 15 s. Actions of other installations do not wait for it.
  const look = (signal: AbortSignal) =>
    Promise.race([acting.look(signal), sleep(everyMs, signal).catch(() => undefined)]);
  const looks = startLooks(app, { look }, 'actions of the console could not be performed; this is retried', everyMs);
  return {
    async stop() {
      await looks.stop();
      await acting.ended();
    },
  };
}

/** Performs pending actions when called. It has no timer, so that tests can call it at any time. */
export class Acting {
  readonly #app: ActingPorts;
  readonly #windows: AskedWindows | null;
  readonly #long: LongActions;
  /** Installations whose actions are being performed. A second look leaves them out. */
  readonly #underWay = new Map<number, Promise<void>>();
  /** The first look of a process finds requests of any age. */
  #isFirst = true;

  /** Without `windows`, actions on windows wait for another process. */
  constructor(app: ActingPorts, windows: AskedWindows | null = null) {
    this.#app = app;
    this.#windows = windows;
    this.#long = new LongActions(app, windows);
  }

  /** Gives each pending action its outcome. Throws if the database does not answer. A refused action does not affect the others. */
  async look(signal: AbortSignal): Promise<void> {
    const { db, config } = this.#app;
    const ids = config.installations.map(({ id }) => id);
    const pending = await pendingActions(db, ids, { recent: !this.#isFirst });
    this.#isFirst = false;
    if (pending.length === 0) return;
    // The books of the other installations belong to another configuration.
    const changed = await changedIdentities(db, config.installations);
    const waiting = new Set(pending.map(({ installation }) => installation));
    const ready = config.installations.filter(({ id }) => waiting.has(id) && !changed.has(id));
    await forEachAtATime(installationsAtATime, ready, async (installation) => {
      const { id } = installation;
      if (signal.aborted || this.#underWay.has(id)) return;
      const running = this.#drain(installation, signal).finally(() => this.#underWay.delete(id));
      this.#underWay.set(id, running);
      await running;
    });
  }

  /** Does nothing if another daemon is at work on this installation's actions. */
  async #drain(installation: InstallationConfig, signal: AbortSignal): Promise<void> {
    const { db, promptDb } = this.#app;
    const ports = { db: promptDb, clock: systemClock, signal, holder: `actions/${randomUUID()}` };
    try {
      await withLease(ports, { installation: installation.id, lane: 'actions' }, async (held) => {
        // Another daemon may have performed some before the lease.
        for (const action of await pendingActions(db, [installation.id], { recent: false })) {
          if (held.signal.aborted) return;
          await this.#act(installation, action, held.transact, signal);
        }
      });
    } catch (error) {
      // An action with an outcome is over, for example if the answer to its commit was lost. The next look continues.
      const isLeft = error instanceof LeaseBusy || error instanceof LeaseLost || error instanceof ActionOver;
      if (!isLeft && !signal.aborted) throw error;
    }
  }

  /** Gives one action its outcome. Throws if the outcome cannot be recorded; the action is then pending. */
  async #act(
    installation: InstallationConfig,
    action: AskedAction,
    transact: Transact,
    signal: AbortSignal,
  ): Promise<void> {
    const { log } = this.#app;
    const { id, kind } = action;
    const about = { installation: installation.id, action: id, kind };
    const expire = async () => {
      await transact((trx) => endBoth(trx, action, (each) => expireAction(trx, each)));
      log.warn(about, 'the action has expired');
    };
    const isKnown = isAskedKind(kind);
    if (isLong(kind) && (this.#long.has(id) || !action.isOver)) {
      const requireRight = (trx: Connection) => this.#requireRight(trx, installation, action, kind);
      const refuse = (err: unknown) =>
        this.#refuse(installation, action, err, (work) => this.#app.db.transaction(work));
      return this.#long.begin(installation, action, kind, { requireRight, refuse, signal });
    }
    if (action.isOver && !(isKnown && isOutside(kind) && this.#windows !== null)) return expire();
    // Another build or process performs it, or it expires.
    const windows = this.#windows;
    if (!isKnown || (isOutside(kind) && windows === null)) return;
    try {
      if (isOutside(kind) && windows !== null) {
        if (!(await this.#performOutside(installation, action, { kind, windows }, transact))) return await expire();
      } else if (!isOutside(kind) && !isLong(kind))
        await transact((trx) => this.#perform(trx, installation, action, kind));
      log.info(about, 'the action was performed');
    } catch (err) {
      if (err instanceof ActionOver || err instanceof LeaseLost) throw err;
      if (isGrpcServiceError(err)) {
        log.warn({ ...about, err }, 'Temporal did not perform the action; this is retried');
        return;
      }
      return await this.#refuse(installation, action, err, transact);
    }
    if (!kind.endsWith('_delivery') || (isKnown && isOutside(kind))) return;
    await this.#windows?.requestDelivery(installation.id).catch((err: unknown) => {
      log.debug({ ...about, err }, 'the delivery could not be started; this is retried');
    });
  }

  /** Records why an action was not performed. */
  async #refuse(
    installation: InstallationConfig,
    action: AskedAction,
    err: unknown,
    transact: Transact,
  ): Promise<void> {
    const { log } = this.#app;
    const { id, kind } = action;
    const about = { installation: installation.id, action: id, kind };
    const isExplained = err instanceof UserError;
    const unexplained = kind === 'repost_books' ? actionErrors.stopped : actionErrors.failed;
    const refusal = isExplained ? err : new UserError(unexplained({ action: id }), 1, err);
    await transact((trx) => endBoth(trx, action, (each) => refuseAction(trx, each, refusal)));
    if (isExplained) log.warn({ ...about, code: refusal.code }, 'the action was refused');
    else log.error({ ...about, err }, 'the action failed');
  }

  /** Waits for the actions that still run. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
    await this.#long.ended();
  }

  /**
   * Performs an action outside PostgreSQL, and records its outcome afterwards. Work that was done before the daemon ended is not
   * repeated. False if the action has expired, and nothing was done.
   */
  async #performOutside(
    installation: InstallationConfig,
    action: AskedAction,
    { kind, windows }: { kind: OutsideKind; windows: AskedWindows },
    transact: Transact,
  ): Promise<boolean> {
    const performer: OutsidePerformer = outsidePerformers[kind];
    let result = (await performer.done?.(this.#app.db, installation, action, windows)) ?? null;
    if (result === null) {
      if (action.isOver) return false;
      const work = await transact(async (trx) => {
        await this.#requireRight(trx, installation, action, kind);
        return performer.prepare(trx, installation, action, this.#app);
      });
      result = await work(windows);
    }
    const done = { installation: installation.id, kind, by: askedBy(action), input: {}, result };
    await transact((trx) => recordAction(trx, done));
    return true;
  }

  /** Performs an action in a transaction. Throws if its outcome would not be recorded with it. */
  async #perform(
    trx: Connection,
    configured: InstallationConfig,
    action: AskedAction,
    kind: Exclude<AskedKind, OutsideKind | LongKind>,
  ): Promise<void> {
    const { config } = this.#app;
    await this.#requireRight(trx, configured, action, kind);
    if (kind === 'approve_action') {
      const approved = await openRequestOf(trx, action);
      const of = approvedKinds.find((each) => each === approved?.kind);
      if (approved === null || of === undefined) throw new UserError(actionErrors.noEffect(), 1);
      await this.#perform(trx, configured, approved, of);
      await endAction(trx, action.id, {});
      return;
    }
    if (kind === 'withdraw_action') {
      const withdrawn = await openRequestOf(trx, action);
      if (withdrawn === null || !isSamePerson(withdrawn.subject, action.subject))
        throw new UserError(actionErrors.noEffect(), 1);
      await withdrawAction(trx, withdrawn.id);
      await endAction(trx, action.id, {});
      return;
    }
    const [inForce] = await mappingsInForce(trx, [configured], { followFile: config.followMappingFile });
    await performers[kind](trx, inForce?.installation ?? configured, action, this.#app);
    if (!(await hasOutcome(trx, action.id))) throw new UserError(actionErrors.noEffect(), 1);
  }

  /** Throws UserError if the user has lost the right since the request. */
  async #requireRight(
    trx: Connection,
    { id, timezone }: InstallationConfig,
    { subject: name }: AskedAction,
    kind: AskedKind,
  ): Promise<void> {
    const user = await subjectNamed(trx, name);
    const granted = user === null || user.isDisabled ? [] : await rolesOf(trx, user.id);
    const rights = new Rights(granted, dateIn(timezone, this.#app.clock()));
    if (!rights.may(permittedActions[kind], id)) throw new UserError(actionErrors.noRight({ user: name }), 1);
  }
}

/** The request that an approval approves, or a withdrawal withdraws. Null if it is over. */
async function openRequestOf(trx: Connection, { installation, input }: AskedAction): Promise<AskedAction | null> {
  const { action } = approvalRequest.parse(input);
  const approved = await askedAction(trx, installation, action);
  return approved === null || approved.isOver || (await hasOutcome(trx, approved.id)) ? null : approved;
}

/** Ends an action. With an approval, the approved request ends, too: a second approval is not possible. */
async function endBoth(trx: Connection, action: AskedAction, end: (id: number) => Promise<void>): Promise<void> {
  const approved = action.kind === 'approve_action' ? await openRequestOf(trx, action) : null;
  if (approved !== null) await end(approved.id);
  await end(action.id);
}
