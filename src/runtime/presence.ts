/**
 * The running processes of a database, and the installations that each of them serves (table `daemon`). Their
 * configurations may differ: a process leaves a step of an installation that it does not serve to another process
 * (activities/elsewhere.ts).
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { bool, instant, integer, nullable } from '../db/columns.ts';
import { errorText } from '../db/database-errors.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { within } from '../domain/concurrency.ts';
import { UserError } from '../domain/errors.ts';
import { causeOfRefusal } from '../domain/refusals.ts';
import type { InstallationId } from '../terms.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { App } from './app.ts';
import { type PresenceTimes, presenceTimes } from './presence-times.ts';
import { ownVersion } from './version.ts';

/** Limit of the wait for a heartbeat's answer. */
const answerTimeoutMs = 10_000;

export interface Presence {
  /** Rejects with a UserError if this process must stop working; never resolves. */
  failed: Promise<never>;
  /** Informs the other processes at once which installations this one serves from now on. */
  serve(installations: readonly InstallationId[]): Promise<void>;
  /** Removes this process from the table. */
  end(): Promise<void>;
}

interface Work {
  /** The command that the user started: `run`, `sync`. */
  command: string;
  /** The configured task queue. */
  taskQueue: string;
  installations: readonly InstallationId[];
  times?: Partial<PresenceTimes>;
}

/** Whether the command is a daemon, which performs the actions of the console. Its row stays, so that the console shows when it ended. */
function isDaemon(command: string): boolean {
  return command === 'run' || command === 'dev';
}

/** Registers this process, and keeps it registered. */
export async function enter(app: App, work: Work): Promise<Presence> {
  const presence = new Registered(app, work);
  await presence.begin();
  return presence;
}

class Registered implements Presence {
  readonly failed: Promise<never>;
  readonly #app: App;
  readonly #work: Work;
  readonly #times: PresenceTimes;
  readonly #id = randomUUID();
  readonly #ended = new AbortController();
  #installations: readonly InstallationId[];
  #fail: (error: UserError) => void = () => undefined;
  #heartbeats: Promise<void> = Promise.resolve();

  constructor(app: App, work: Work) {
    this.#app = app;
    this.#work = work;
    this.#installations = work.installations;
    this.#times = { ...presenceTimes, ...work.times };
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  async begin(): Promise<void> {
    await this.#heartbeat();
    this.#heartbeats = this.#beat();
  }

  serve(installations: readonly InstallationId[]): Promise<void> {
    this.#installations = installations;
    return this.#heartbeat();
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#heartbeats;
    try {
      const leave = isDaemon(this.#work.command)
        ? 'update daemon set ended_at = clock_timestamp() where id = ?'
        : 'delete from daemon where id = ?';
      await within(answerTimeoutMs, execute(this.#app.presenceDb, leave, [this.#id]));
    } catch (err) {
      this.#app.log.debug({ err }, 'this process could not be removed from the table; its row expires');
    }
  }

  async #beat(): Promise<void> {
    let lostSince: number | null = null;
    while (!this.#ended.signal.aborted) {
      const { signal } = this.#ended;
      await sleep(this.#times.heartbeatMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (this.#ended.signal.aborted) return;
      const askedAt = performance.now();
      try {
        await within(answerTimeoutMs, this.#heartbeat());
        lostSince = null;
        this.#app.outages.up('postgres');
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        lostSince ??= askedAt;
        const lostMs = performance.now() - lostSince;
        this.#app.outages.down('postgres', plainErrorOf(databaseLost(lostMs, error)));
        if (lostMs >= this.#times.databaseLostMs) return this.#fail(databaseLost(lostMs, error));
      }
    }
  }

  /** The whole row is written, because another process may have deleted it while this process was suspended. */
  async #heartbeat(): Promise<void> {
    const { command, taskQueue } = this.#work;
    const temporalGoneSince = this.#app.outages.of('temporal')?.since ?? null;
    await execute(
      this.#app.presenceDb,
      `insert into daemon (id, command, host, process, version, task_queue, installations, temporal_gone_since)
       values (?, ?, ?, ?, ?, ?, ?::bigint[], ?)
       on conflict (id) do update set heard_at = clock_timestamp(), installations = excluded.installations,
         temporal_gone_since = excluded.temporal_gone_since`,
      [
        ...[this.#id, command, hostname(), process.pid, ownVersion(), taskQueue],
        ...[[...this.#installations], temporalGoneSince],
      ],
    );
  }
}

/** Selects rows of `daemon` with a recent heartbeat. */
const isAtWork = `ended_at is null and heard_at > clock_timestamp() - make_interval(secs => ${presenceTimes.forgottenAfterSeconds})`;

export async function anyProcessAtWork(db: Connection): Promise<boolean> {
  const { found } = await row(db, { found: bool }, `select exists (select from daemon where ${isAtWork}) as found`);
  return found;
}

/** The installations that running processes serve on this task queue. */
export async function servedInstallations(db: Connection, taskQueue: string): Promise<Set<InstallationId>> {
  const served = await rows(
    db,
    { installation: integer },
    `select distinct installation from daemon, unnest(installations) installation where task_queue = ? and ${isAtWork}`,
    [taskQueue],
  );
  return new Set(served.map(({ installation }) => installation));
}

/** A statement that changes nothing, but fails if the database is read-only. */
export async function tryWriting(db: Connection): Promise<void> {
  await execute(db, 'update daemon set heard_at = heard_at where false');
}

/**
 * The time since which a running process cannot reach Temporal; null if all can. Of several processes, the earliest
 * time.
 */
export async function temporalGoneSince(db: Connection): Promise<Date | null> {
  const { since } = await row(
    db,
    { since: nullable(instant) },
    `select min(temporal_gone_since) as since from daemon where ${isAtWork}`,
  );
  return since;
}

function plainErrorOf({ code, message, todo }: UserError): PlainError {
  return { code, message, todo };
}

function databaseLost(lostMs: number, cause: unknown): UserError {
  const refusal = causeOfRefusal(cause);
  if (refusal) return new UserError(refusal, 3, cause);
  const seconds = Math.round(lostMs / 1000);
  return new UserError(serviceErrors.postgresNotAnswering({ reason: errorText(cause), seconds }), 3, cause);
}

/** Removes processes without a heartbeat for this many days. Returns the number of removed rows. */
export function pruneDaemons(db: Db, days: number, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from daemon where id in (select id from daemon
       where heard_at < clock_timestamp() - make_interval(days => ?) limit ${pruneBatch})`,
    days,
    signal,
  );
}
