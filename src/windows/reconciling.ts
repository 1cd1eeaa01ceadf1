import { randomUUID } from 'node:crypto';
import { LeaseBusy, LeaseLost } from '../db/lease.ts';
import { withLease } from '../db/with-lease.ts';
import { sleep } from '../domain/concurrency.ts';
import type { ReconcileNote } from '../queries/reconcile.ts';
import { type ByItself, reconcileByItself } from '../queries/reconcile-by-itself.ts';
import { type DueTurn, type PutOff, turnsToTake } from '../queries/reconcile-turns.ts';
import { attemptsAtMost, beginTurn, endTurn, giveTurnBack } from '../reconcile/turns.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { toUserError } from '../runtime/user-errors.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Between two looks for turns, and before the first: a daemon that starts opens windows first. */
const lookEveryMs = 60_000;

const putOffTexts: Record<PutOff, string> = {
  paused: 'its windows are paused; it is reconciled once they go on',
  first_load: 'its first load is not over; it is reconciled after that',
  identity_changed: 'its configuration is of other books; `vetledger status` says what to do',
};

/**
 * Reconciles each installation once a day by itself (`reconcile.between`), one after another: a process computes on one core. It is a loop
 * of the daemon and no workflow, so that it depends on PostgreSQL alone.
 */
export function startReconciling(app: App, everyMs = lookEveryMs): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const reconciler = new Reconciler(app);
  const running = (async () => {
    for (;;) {
      await sleep(everyMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await reconciler.look(signal);
      } catch (err) {
        if (signal.aborted) return;
        app.log[app.outages.of('postgres') === null ? 'warn' : 'debug'](
          { err },
          'no installation could be reconciled; it is tried again in a minute',
        );
      }
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** One look after another; without a timer, so that tests look when they want. */
export class Reconciler {
  readonly #app: App;
  /** The put-off turns that the log has named, by installation. */
  readonly #named = new Map<number, string>();

  constructor(app: App) {
    this.#app = app;
  }

  /** Takes the turns that are due. Throws where the database does not tell them; the failure of one installation is its own. */
  async look(signal: AbortSignal): Promise<void> {
    const { db, config, clock } = this.#app;
    const tried = new Set<number>();
    while (!signal.aborted && config.reconcileBetween !== null) {
      // Before each turn: many take hours, in which others are paused or taken elsewhere.
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

  /** Does nothing where another daemon has taken the turn. */
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
      // Another daemon is at it.
      if (error instanceof LeaseBusy || error instanceof LeaseLost) return;
      if (!signal.aborted) throw error;
      if (isBegun) await giveTurnBack(db, id);
    }
  }

  /** Returns why it failed; null where it came to a verdict. */
  async #reconcile(
    installation: DueTurn['installation'],
    attempt: number,
    signal: AbortSignal,
  ): Promise<PlainError | null> {
    const { log, config } = this.#app;
    const { id } = installation;
    const note = (told: ReconcileNote) => log.info({ ...told, installation: id }, 'while it is reconciled by itself');
    try {
      const ports = { ...this.#app, erpClock: systemClock, sealKey: config.sealKey, signal };
      this.#name(id, await reconcileByItself(ports, installation, note));
      return null;
    } catch (err) {
      signal.throwIfAborted();
      const { code, message, todo } = toUserError(err);
      const again = attempt < attemptsAtMost ? 'it is tried again in an hour' : 'it is tried again tomorrow';
      log.error({ err, installation: id, code, todo, attempt }, `reconcile came to no verdict; ${again}: ${message}`);
      return { code, message, todo };
    }
  }

  #name(installation: number, { failing, chain, report }: ByItself): void {
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
      `NOT reconciled (${failing.join(', ')}): \`vetledger reconcile\` names the documents, \`vetledger ledger verify\` what is not as it was written`,
    );
  }
}
