import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../config/load-config.ts';
import { LeaseBusy, LeaseLost } from '../db/lease.ts';
import { withLease } from '../db/with-lease.ts';
import { type DailyResult, reconcileDaily } from '../queries/daily-reconcile.ts';
import type { ReconcileNote } from '../queries/reconcile.ts';
import { type DueTurn, type PutOff, turnsToTake } from '../queries/reconcile-turns.ts';
import { attemptsAtMost, beginTurn, endTurn, giveTurnBack } from '../reconcile/turns.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { toUserError } from '../runtime/user-errors.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { startLooks } from './looks.ts';

const putOffTexts: Record<PutOff, string> = {
  paused: 'its windows are paused; it is reconciled after they are resumed',
  first_load: 'its first load is not complete; it is reconciled after that',
  identity_changed: 'its configuration belongs to other books; `vetledger status` shows what to do',
};

/**
 * Reconciles each installation automatically once a day (`reconcile.between`), one after another, since a process
 * computes on one core. It is a loop of the daemon instead of a workflow, so that it depends only on PostgreSQL.
 */
export function startReconciling(app: App, everyMs?: number): { stop(): Promise<void> } {
  const failure = 'no installation could be reconciled; this is retried in a minute';
  return startLooks(app, new Reconciler(app), failure, everyMs);
}

/** Reconciles an installation now. The caller holds the lease of the lane `reconcile`. */
export function reconcileOne(app: App, installation: InstallationConfig, signal: AbortSignal): Promise<DailyResult> {
  const note = (found: ReconcileNote) =>
    app.log.info({ ...found, installation: installation.id }, 'note of the reconciliation');
  return reconcileDaily({ ...app, erpClock: systemClock, sealKey: app.config.sealKey, signal }, installation, note);
}

/** Takes due turns when called. It has no timer, so that tests can call it at any time. */
export class Reconciler {
  readonly #app: App;
  /** The postponed turns that were logged, by installation. */
  readonly #named = new Map<number, string>();

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Runs the daily reconciliations that are due. Throws if the database does not answer. A failure of one installation
   * does not affect the others.
   */
  async look(signal: AbortSignal): Promise<void> {
    const { db, config, clock } = this.#app;
    const tried = new Set<number>();
    while (!signal.aborted && config.reconcileBetween !== null) {
      // Read again before each turn: turns may take hours, in which other installations are paused or reconciled
      // elsewhere.
      const due = await turnsToTake(db, config.installations, config.reconcileBetween, clock());
      for (const turn of due) if (turn.putOff !== null) this.#namePutOff(turn, turn.putOff);
      const next = due.find(({ installation, putOff }) => putOff === null && !tried.has(installation.id));
      if (next === undefined) return;
      tried.add(next.installation.id);
      await this.#take(next, signal);
    }
  }

  #namePutOff({ installation: { id }, day }: DueTurn, putOff: PutOff): void {
    const named = `${day} ${putOff}`;
    if (this.#named.get(id) === named) return;
    this.#named.set(id, named);
    this.#app.log.warn({ installation: id }, `not reconciled: ${putOffTexts[putOff]}`);
  }

  /** Does nothing if another daemon has taken the turn. */
  async #take({ installation, day }: DueTurn, signal: AbortSignal): Promise<void> {
    const { db, promptDb } = this.#app;
    const { id } = installation;
    let isBegun = false;
    try {
      await withLease(
        { db: promptDb, clock: systemClock, signal, holder: `reconcile/${randomUUID()}` },
        { installation: id, lane: 'reconcile' },
        async (held) => {
          const attempt = await beginTurn(db, id, day);
          if (attempt === null) return;
          isBegun = true;
          const error = await this.#reconcile(installation, attempt, held.signal);
          await endTurn(db, id, error);
        },
      );
    } catch (error) {
      // Another daemon has the turn.
      if (error instanceof LeaseBusy || error instanceof LeaseLost) return;
      if (!signal.aborted) throw error;
      if (isBegun) await giveTurnBack(db, id);
    }
  }

  /** Returns the error of a failure; null if there is a verdict. */
  async #reconcile(
    installation: DueTurn['installation'],
    attempt: number,
    signal: AbortSignal,
  ): Promise<PlainError | null> {
    const { log } = this.#app;
    const { id } = installation;
    try {
      this.#name(id, await reconcileOne(this.#app, installation, signal));
      return null;
    } catch (err) {
      signal.throwIfAborted();
      const { code, message, todo } = toUserError(err);
      const again = attempt < attemptsAtMost ? 'it is retried in an hour' : 'it is retried tomorrow';
      log.error({ err, installation: id, code, todo, attempt }, `the reconciliation failed; ${again}: ${message}`);
      return { code, message, todo };
    }
  }

  #name(installation: number, { failing, chain, report }: DailyResult): void {
    const { log } = this.#app;
    const { refetched, complete } = report;
    const found = { installation, complete, ...(refetched === undefined ? {} : { refetched }) };
    if (failing.length === 0) {
      log.info(found, 'reconciled: no difference');
      return;
    }
    const { broken, seals } = chain;
    log.error(
      {
        ...{ ...found, failing },
        ...(broken === null ? {} : { broken }),
        ...(seals?.defect ? { seals: seals.defect } : {}),
      },
      `NOT reconciled (${failing.join(', ')}): \`vetledger reconcile\` names the documents, \`vetledger ledger verify\` shows changes of the books`,
    );
  }
}
