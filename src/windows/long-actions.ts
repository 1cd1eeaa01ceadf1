import { type AskedAction, askedBy, hasOutcome } from '../actions/asking.ts';
import { ActionOver, recordAction } from '../actions/record.ts';
import { mappingsInForce } from '../bookkeeping/mapping-versions.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { LeaseBusy, LeaseLost } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import type { App } from '../runtime/app.ts';
import type { AskedWindows } from './asked-windows.ts';
import { type LongKind, longPerformers } from './performers/long.ts';
import type { LongPerform } from './performers/performer.ts';

type LongPorts = Pick<App, 'db' | 'config' | 'log'>;

/** What the loop of actions does about a long action. */
interface Around {
  /** Throws UserError if the user has lost the right since the request. */
  requireRight(trx: Connection): Promise<void>;
  /** Records that the action was refused or has failed. */
  refuse(error: unknown): Promise<void>;
  signal: AbortSignal;
}

/**
 * Actions that take minutes. They run beside the loop of the others, each once in this process. If two daemons perform one, the first
 * outcome stays; a repost holds the lease of the windows, and a second one finds nothing to post.
 */
export class LongActions {
  readonly #app: LongPorts;
  readonly #windows: AskedWindows | null;
  readonly #running = new Map<number, Promise<void>>();

  constructor(app: LongPorts, windows: AskedWindows | null) {
    this.#app = app;
    this.#windows = windows;
  }

  has(id: number): boolean {
    return this.#running.has(id);
  }

  begin(installation: InstallationConfig, action: AskedAction, kind: LongKind, around: Around): void {
    const { id } = action;
    if (this.has(id)) return;
    const about = { installation: installation.id, action: id, kind };
    const running = this.#perform(installation, action, kind, around)
      .then((isDone) => {
        if (isDone) this.#app.log.info(about, 'the action was performed');
      })
      .catch(async (error: unknown) => {
        // An action that the end of the daemon interrupts stays pending. Another daemon performs it.
        const isLeft = error instanceof ActionOver || error instanceof LeaseLost || error instanceof LeaseBusy;
        if (!isLeft && !around.signal.aborted) await around.refuse(error);
      })
      .catch((err: unknown) => this.#app.log.warn({ ...about, err }, 'the outcome of the action was not recorded'))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  /** Waits for the running actions. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** False if another process performs the action. */
  async #perform(
    configured: InstallationConfig,
    action: AskedAction,
    kind: LongKind,
    { requireRight, signal }: Around,
  ): Promise<boolean> {
    const { db, config } = this.#app;
    const installation = await db.transaction(async (trx) => {
      if (await hasOutcome(trx, action.id)) throw new ActionOver(`action ${action.id} has an outcome`);
      await requireRight(trx);
      const [inForce] = await mappingsInForce(trx, [configured], { followFile: config.followMappingFile });
      return inForce?.installation ?? configured;
    });
    const perform: LongPerform = longPerformers[kind];
    const result = await perform({ db, windows: this.#windows }, installation, action, signal);
    if (result === null) return false;
    const by = askedBy(action);
    await db.transaction((trx) => recordAction(trx, { installation: installation.id, kind, by, input: {}, result }));
    return true;
  }
}
