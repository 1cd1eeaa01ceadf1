/**
 * Processes at work on a database know of each other (table `daemon`): those that share a task queue run each other's activities,
 * so they must serve the same installations, and understand them alike.
 */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstallationConfig } from '../config/load-config.ts';
import { bool, instant, integer, nullable, text, uuid } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { within } from '../domain/concurrency.ts';
import { ConfigError, type PlainError, UserError } from '../domain/errors.ts';
import { reasonOf } from '../embedded/service-error.ts';
import type { App } from './app.ts';
import { type PresenceTimes, presenceTimes } from './presence-times.ts';
import { ownVersion } from './version.ts';

/** Longest wait for a heartbeat's answer. */
const answerTimeoutMs = 10_000;

export interface Presence {
  /** Rejects with a UserError when this process must not work any more; never resolves. */
  failed: Promise<never>;
  /** Has this process serve these installations from now on. Throws ConfigError where that does not go with other processes. */
  serve(installations: readonly InstallationConfig[]): Promise<void>;
  /** Takes this process off the list. */
  end(): Promise<void>;
}

interface Work {
  /** What the user started: `run`, `sync`. */
  command: string;
  /** The configured task queue; null where no worker runs. */
  taskQueue: string | null;
  times?: Partial<PresenceTimes>;
}

interface Process {
  id: string;
  command: string;
  host: string;
  process: number;
  version: string;
  taskQueue: string | null;
  since: Date;
  installations: Served[];
}

type Served = Pick<InstallationConfig, 'id' | 'baseUrl' | 'currency' | 'timezone'>;

/**
 * Registers this process and keeps it registered. Throws ConfigError where another process that lives serves other installations
 * on the same task queue, or understands one of them differently.
 */
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
  #fail: (error: UserError) => void = () => undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(app: App, work: Work) {
    this.#app = app;
    this.#work = work;
    this.#times = { ...presenceTimes, ...work.times };
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  async begin(): Promise<void> {
    await this.#register();
    this.#beating = this.#beat();
  }

  serve(installations: readonly InstallationConfig[]): Promise<void> {
    return this.#register(installations);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#beating;
    try {
      await within(answerTimeoutMs, execute(this.#app.presenceDb, 'delete from daemon where id = ?', [this.#id]));
    } catch (err) {
      this.#app.log.debug({ err }, 'this process stays on the list until it is forgotten');
    }
  }

  get #installations(): InstallationConfig[] {
    return this.#app.config.installations;
  }

  async #register(installations: readonly InstallationConfig[] = this.#installations): Promise<void> {
    const own: Process = {
      id: this.#id,
      command: this.#work.command,
      host: hostname(),
      process: process.pid,
      version: ownVersion(),
      taskQueue: this.#work.taskQueue,
      since: this.#app.clock(),
      installations: [...installations],
    };
    await this.#app.presenceDb.transaction(async (trx) => {
      await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger daemons', 0))`);
      await forgetSilent(trx, this.#times.forgottenAfterSeconds);
      await execute(trx, 'delete from daemon where id = ?', [this.#id]);
      const others = await livingProcesses(trx);
      for (const other of others) refuseConflict(own, other);
      await save(trx, own);
    });
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
        if (error instanceof UserError) return this.#fail(error);
        lostSince ??= askedAt;
        const lostMs = performance.now() - lostSince;
        this.#app.outages.down('postgres', plainErrorOf(databaseLost(lostMs, error)));
        if (lostMs >= this.#times.databaseLostMs) return this.#fail(databaseLost(lostMs, error));
      }
    }
  }

  async #heartbeat(): Promise<void> {
    const kept = await execute(
      this.#app.presenceDb,
      'update daemon set heard_at = clock_timestamp(), temporal_gone_since = ? where id = ?',
      [this.#app.outages.of('temporal')?.since ?? null, this.#id],
    );
    // It stood still for so long that the others have forgotten it.
    if (kept === 0) await this.#register();
  }
}

/** Whether a process is at work on this database now. */
export async function anyProcessAtWork(db: Connection): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    'select exists (select from daemon where heard_at > clock_timestamp() - make_interval(secs => ?)) as found',
    [presenceTimes.forgottenAfterSeconds],
  );
  return found;
}

/** Which installations a daemon or a command that runs windows serves now, on this task queue. */
export async function servedInstallations(db: Connection, taskQueue: string): Promise<Set<InstallationConfig['id']>> {
  const living = await livingProcesses(db, presenceTimes.forgottenAfterSeconds);
  const served = living
    .filter((process) => process.taskQueue === taskQueue)
    .flatMap(({ installations }) => installations);
  return new Set(served.map(({ id }) => id));
}

/** Since when the processes at work have not reached Temporal, the first that noticed; null where none has. */
export async function temporalGoneSince(db: Connection): Promise<Date | null> {
  const { since } = await row(
    db,
    { since: nullable(instant) },
    `select min(temporal_gone_since) as since from daemon
     where heard_at > clock_timestamp() - make_interval(secs => ?)`,
    [presenceTimes.forgottenAfterSeconds],
  );
  return since;
}

async function forgetSilent(trx: Connection, afterSeconds: number): Promise<void> {
  await execute(trx, 'delete from daemon where heard_at < clock_timestamp() - make_interval(secs => ?)', [
    afterSeconds,
  ]);
}

/** `heardWithinSeconds`: not those that are silent for longer, and only not forgotten yet. */
async function livingProcesses(trx: Connection, heardWithinSeconds: number | null = null): Promise<Process[]> {
  const found = await rows(
    trx,
    {
      id: uuid,
      command: text,
      host: text,
      process: integer,
      version: text,
      task_queue: nullable(text),
      started_at: instant,
      installation: integer,
      base_url: text,
      currency: text,
      timezone: text,
    },
    `select d.id, d.command, d.host, d.process, d.version, d.task_queue, d.started_at,
       i.installation, i.base_url, i.currency, i.timezone
     from daemon d join daemon_installation i on i.daemon = d.id
     where d.heard_at > coalesce(clock_timestamp() - make_interval(secs => ?::integer), '-infinity')
     order by d.started_at, d.id, i.installation`,
    [heardWithinSeconds],
  );
  const processes = new Map<string, Process>();
  for (const one of found) {
    const { id, command, host, process, version, task_queue: taskQueue, started_at: since } = one;
    const known = processes.get(id) ?? { id, command, host, process, version, taskQueue, since, installations: [] };
    processes.set(id, known);
    const { installation, base_url: baseUrl, currency, timezone } = one;
    known.installations.push({ id: installation, baseUrl, currency, timezone });
  }
  return [...processes.values()];
}

/** Throws ConfigError where two processes may not work at the same time. */
function refuseConflict(own: Process, other: Process): void {
  for (const mine of own.installations) {
    const theirs = other.installations.find(({ id }) => id === mine.id);
    if (theirs) refuseDifference(own, mine, other, theirs);
  }
  if (own.taskQueue === null || own.taskQueue !== other.taskQueue || listed(own) === listed(other)) return;
  throw new ConfigError(
    'task_queue_shared',
    `Two processes on task queue ${own.taskQueue} must serve the same installations, because each runs the other's work: ${nameOf(other)} serves ${listed(other)}, and this one, ${nameOf(own)}, would serve ${listed(own)}.`,
    `Give this one another temporal.task_queue, or both the same installations. ${gone}`,
  );
}

const settings = [
  ['baseUrl', 'base_url'],
  ['currency', 'currency'],
  ['timezone', 'timezone'],
] as const;

function refuseDifference(own: Process, mine: Served, other: Process, theirs: Served): void {
  const differences = settings
    .filter(([key]) => mine[key] !== theirs[key])
    .map(([key, name]) => `${name} is ${theirs[key]} for the one and ${mine[key]} for the other`);
  if (differences.length === 0) return;
  throw new ConfigError(
    'installation_differs',
    `Two processes understand installation ${mine.id} differently: for ${nameOf(other)} and this one, ${nameOf(own)}, ${differences.join('; ')}.`,
    `Correct the configuration of one of them. ${gone}`,
  );
}

const gone = `A process that was killed is forgotten after ${presenceTimes.forgottenAfterSeconds} s.`;

function listed({ installations }: Process): string {
  return `installations ${installations
    .map(({ id }) => id)
    .sort((a, b) => a - b)
    .join(', ')}`;
}

function nameOf({ command, host, process, since }: Process): string {
  return `\`vetledger ${command}\` (process ${process} on ${host}, since ${since.toISOString()})`;
}

async function save(trx: Connection, own: Process): Promise<void> {
  await execute(trx, 'insert into daemon (id, command, host, process, version, task_queue) values (?, ?, ?, ?, ?, ?)', [
    own.id,
    own.command,
    own.host,
    own.process,
    own.version,
    own.taskQueue,
  ]);
  const { installations } = own;
  await execute(
    trx,
    `insert into daemon_installation (daemon, installation, base_url, currency, timezone)
     select ?, * from unnest(?::bigint[], ?::text[], ?::text[], ?::text[])`,
    [
      own.id,
      installations.map(({ id }) => id),
      installations.map(({ baseUrl }) => baseUrl),
      installations.map(({ currency }) => currency),
      installations.map(({ timezone }) => timezone),
    ],
  );
}

function plainErrorOf({ code, message, todo }: UserError): PlainError {
  return { code, message, todo };
}

function databaseLost(lostMs: number, cause: unknown): UserError {
  const seconds = Math.round(lostMs / 1000);
  return new UserError(
    'postgres_unreachable',
    `PostgreSQL ${seconds === 0 ? 'does not answer' : `has not answered for ${seconds} s`}: ${reasonOf(cause)}`,
    'Start it again, and then this command: nothing is lost and nothing posted twice.',
    3,
    cause,
  );
}

/** Removes daemons that were not heard of for so many days; returns how many. */
export function pruneDaemons(db: Db, days: number, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from daemon where id in (select id from daemon
       where heard_at < clock_timestamp() - make_interval(days => ?) limit ${pruneBatch})`,
    days,
    signal,
  );
}
