/**
 * Notes windows that Temporal ended before they opened: their workflow timed out while no daemon worked on its queue, or somebody
 * terminated it. Such a run has had no activity that could leave a row, so `windows` would not tell that an attempt was made.
 */
import { noCounts } from '../../workflows/messages.ts';
import type { DaemonEvent } from '../domain/events.ts';
import { endCodes } from '../domain/trouble.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { insertFailedWindow, withoutRows } from '../sync/sync-windows.ts';
import { triggerOf } from './schedule-names.ts';

/** How far back the first look of a daemon goes: it may have been down for a weekend. */
const firstLookBackMs = 3 * 86_400_000;
/** Temporal's list of workflows may lag behind by so much. */
const listLagMs = 300_000;
/** Workflows that one look notes. More means that the daemon was down for long: the latest tell enough, and `status` tells how late all are. */
const notedAtMost = 500;
/** Longest wait for an answer of Temporal. */
const callTimeoutMs = 10_000;

interface Unopened {
  installation: number;
  workflowId: string;
  runId: string;
  isTimedOut: boolean;
  beganAt: Date;
}

export class UnopenedWatch {
  readonly #app: App;
  readonly #engine: Engine;
  #since: Date;

  constructor(app: App, engine: Engine) {
    this.#app = app;
    this.#engine = engine;
    this.#since = new Date(app.clock().getTime() - firstLookBackMs);
  }

  /** Notes what has ended since the look before. Two daemons that look at once leave one row, and may both tell of it. */
  async look(): Promise<void> {
    const { db, events } = this.#app;
    const lookedAt = this.#app.clock();
    const ended = await this.#ended();
    const missing = new Set(
      await withoutRows(
        db,
        ended.map(({ workflowId }) => workflowId),
      ),
    );
    for (const run of ended) {
      if (missing.has(run.workflowId)) events.emit(await this.#note(run));
    }
    this.#since = new Date(lookedAt.getTime() - listLagMs);
  }

  /** Windows of this daemon's queue that were ended from outside. */
  async #ended(): Promise<Unopened[]> {
    const { client, taskQueue } = this.#engine;
    const query =
      `WorkflowType = 'syncWindow' and TaskQueue = '${taskQueue}' and ExecutionStatus in ('TimedOut', 'Terminated') ` +
      `and CloseTime >= '${this.#since.toISOString()}'`;
    const own = new RegExp(`^sync-window/(\\d+)-${this.#app.temporalName}(?:-|/)`);
    const found: Unopened[] = [];
    await client.withDeadline(Date.now() + callTimeoutMs, async () => {
      for await (const { workflowId, runId, status, startTime } of client.workflow.list({ query })) {
        const installation = own.exec(workflowId)?.[1];
        if (installation === undefined) continue;
        const isTimedOut = status.name === 'TIMED_OUT';
        found.push({ installation: Number(installation), workflowId, runId, isTimedOut, beganAt: startTime });
        if (found.length < notedAtMost) continue;
        this.#app.log.warn(
          { since: this.#since },
          `more than ${notedAtMost} windows ended before they opened; the others are not noted`,
        );
        break;
      }
    });
    return found;
  }

  async #note({ installation, workflowId, runId, isTimedOut, beganAt }: Unopened): Promise<DaemonEvent> {
    const error = {
      code: isTimedOut ? endCodes.timedOut : endCodes.terminated,
      message: isTimedOut
        ? `Temporal ended the window of installation ${installation} before it opened: no daemon worked on it within its time`
        : `the workflow of the window of installation ${installation} was terminated in Temporal before it opened`,
      todo: 'nothing is lost: the next window covers its time',
    };
    const attempt = { kind: 'window', trigger: triggerOf(workflowId), counts: noCounts, beganAt } as const;
    const window = await insertFailedWindow(this.#app.db, { ...attempt, installation, workflowId, runId, error });
    return {
      ...{ event: 'window_not_opened', installation, window, error },
      ...{ workflow_id: workflowId, run_id: runId },
    };
  }
}
