// One round of real processes: events in a clinic, daemons that follow it, and disturbances. Afterwards, the books must
// equal those of an undisturbed run.

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Faults } from '../../../sandbox/src/index.ts';
import { type Db, openDatabase } from '../../../src/db/pool.ts';
import { freePort } from '../../../src/embedded/processes.ts';
import { demoConfig, fromEnvironment } from '../../support/demo-config.ts';
import { TcpProxy } from '../../support/proxy.ts';
import { query } from '../../support/sql.ts';
import { Child } from './child.ts';
import { Daemon } from './daemons.ts';
import type { ErpSettings } from './erp-process.ts';
import { hurriedRecord } from './erp-wire.ts';
import { installation, judge } from './judge.ts';
import { type Disturbance, type Place, type Plan, planOf } from './plan.ts';
import type { SandboxSettings } from './sandbox-process.ts';
import type { RoundDatabase, Services } from './services.ts';

/** Long enough for a daemon's start on a busy machine, and for an abandoned lease. */
const firstWindowMs = 120_000;
const settleMs = 240_000;
const workflowsEndMs = 90_000;
const pollMs = 250;
const listLagMs = 3_000;
const token = 'sandbox-token';

export interface RoundReport {
  seed: number;
  wrong: string[];
  story: string[];
  seconds: number;
  windows: number;
  entries: number;
  delivered: number;
  disturbances: Record<string, number>;
}

export interface RoundSetting {
  services: Services;
  bundle: string;
  mapping: string;
  mutant: string;
  erp?: string | null;
  tell?: (line: string) => void;
}

export async function playRound(setting: RoundSetting, seed: number, signal: AbortSignal): Promise<RoundReport> {
  const round = await Round.begin(setting, seed, signal);
  try {
    return await round.play();
  } finally {
    await round.end();
  }
}

const noFaults: Partial<Faults> = { http500: null, truncatedBody: null, timeoutMs: null, connectionReset: null };

class Round {
  readonly #setting: RoundSetting;
  readonly #seed: number;
  readonly #signal: AbortSignal;
  readonly #plan: Plan;
  readonly #folder: string;
  readonly #database: RoundDatabase;
  readonly #db: Db;
  readonly #proxies: Record<Place, TcpProxy>;
  readonly #sandbox: Child;
  readonly #erp: Child;
  readonly #daemons: Daemon[];
  readonly #began = performance.now();
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  readonly #disturbances: Record<string, number> = {};
  #clockAheadMs = 0;
  #lives = 0;

  static async begin(setting: RoundSetting, seed: number, signal: AbortSignal): Promise<Round> {
    const { services } = setting;
    const folder = join(services.folder, `round-${seed}-${randomBytes(4).toString('hex')}`);
    mkdirSync(folder);
    const database = await services.newDatabase();
    const ports = { sandbox: await freePort(), erp: await freePort() };
    const proxied = async (port: number) => {
      const proxy = new TcpProxy({ host: '127.0.0.1', port });
      await proxy.listen();
      return proxy;
    };
    const proxies = {
      postgres: await proxied(services.postgres.port),
      temporal: await proxied(services.temporal.port),
      sandbox: await proxied(ports.sandbox),
      erp: await proxied(ports.erp),
    };
    return new Round(setting, seed, signal, folder, database, ports, proxies);
  }

  private constructor(
    setting: RoundSetting,
    seed: number,
    signal: AbortSignal,
    folder: string,
    database: RoundDatabase,
    ports: { sandbox: number; erp: number },
    proxies: Record<Place, TcpProxy>,
  ) {
    this.#setting = setting;
    this.#seed = seed;
    this.#signal = signal;
    this.#folder = folder;
    this.#database = database;
    this.#proxies = proxies;
    this.#plan = planOf(seed, setting.erp === undefined ? {} : { erp: setting.erp });
    this.#db = openDatabase(database.ownerUrl, { max: 2, report: () => undefined });
    const { invoices, lateCommitShare, erp } = this.#plan;
    const failed = (text: string) => void this.#wrong.push(`the harness failed: ${text}`);
    this.#sandbox = new Child(
      new URL('./sandbox-process.ts', import.meta.url),
      (): SandboxSettings => ({
        ...{ port: ports.sandbox, seed, invoices, lateCommitShare, state: this.#stateFile },
        clockAheadMs: this.#clockAheadMs,
      }),
      failed,
    );
    this.#erp = new Child(
      new URL('./erp-process.ts', import.meta.url),
      (): ErpSettings => ({
        ...{ port: ports.erp, record: erp ?? '', books: this.#booksFile },
        seed: seed * 100 + ++this.#lives,
      }),
      failed,
    );
    const config = this.#writeConfig();
    const { bundle, mutant } = setting;
    this.#daemons = Array.from(
      { length: this.#plan.daemons },
      () => new Daemon({ config, bundle, record: erp ?? '', mutant }, this.#env, (line) => this.#tell(line)),
    );
  }

  async play(): Promise<RoundReport> {
    this.#tell(`seed ${this.#seed}: ${JSON.stringify({ ...this.#plan, events: undefined })}`);
    try {
      await this.#sandbox.start();
      if (this.#plan.erp !== null) await this.#erp.start();
      for (const daemon of this.#daemons) daemon.start();
      if (!this.#plan.isEarly)
        await this.#until('a first window', firstWindowMs, async () => (await this.#windows()).length > 0);
      await this.#trouble();
      await this.#calm();
      await this.#settle();
      await this.#workflowsEnd();
      for (const daemon of this.#daemons) {
        const wrong = await daemon.stop();
        if (wrong !== null) this.#wrong.push(wrong);
      }
      await this.#judge();
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#wrong.push(error instanceof Unsettled ? error.message : `the round failed: ${told(error)}`);
      this.#tell(this.#wrong.at(-1) ?? '');
    }
    if (this.#wrong.length > 0) this.#story.push(...(await this.#inTemporal()));
    if (this.#wrong.length > 0)
      for (const [n, { output }] of this.#daemons.entries()) this.#story.push(`daemon ${n + 1} said:\n${output}`);
    return this.#report();
  }

  async end(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.kill();
    await Promise.all([this.#sandbox.kill(), this.#erp.kill()]);
    for (const proxy of Object.values(this.#proxies)) proxy.close();
    await this.#db.destroy();
    const { services } = this.#setting;
    services.emptyDisk();
    if (!this.#signal.aborted) {
      await Promise.all([services.postgres.start(), services.temporal.start()]);
      await services.dropDatabase(this.#database);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #stateFile(): string {
    return join(this.#folder, 'clinic.state');
  }

  get #booksFile(): string {
    return join(this.#folder, 'erp-books.json');
  }

  get #env(): NodeJS.ProcessEnv {
    const url = new URL(this.#database.url);
    url.port = String(this.#proxies.postgres.port);
    return {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, PRACTICE_TOKEN: token, ERP_PASSWORD: 'none' },
      ...{ DATABASE_URL: url.href, TEMPORAL_ADDRESS: `127.0.0.1:${this.#proxies.temporal.port}` },
      ...{ VETLEDGER_LOG: process.env.VETLEDGER_LOG ?? 'warn', VETLEDGER_DATA_DIR: this.#folder },
    };
  }

  #writeConfig(): string {
    const file = join(this.#folder, 'vetledger.yaml');
    const { erp } = this.#plan;
    const settings = {
      ...{ id: installation, base_url: this.#proxies.sandbox.url, mapping: this.#setting.mapping },
      ...{ rate_window_seconds: 1, overlap_seconds: 60, scrub_days: 0 },
      ...(erp === null
        ? {}
        : {
            erp: `{kind: tryton, url: "${this.#proxies.erp.url}", database: chaos, user: api, password: ${fromEnvironment('ERP_PASSWORD')}, auto: true}`,
          }),
    };
    writeFileSync(
      file,
      demoConfig([settings], {
        ...{ database_url: fromEnvironment('DATABASE_URL'), schedule: '{every: 1s}', window_timeout_minutes: 2 },
        temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
      }),
    );
    return file;
  }

  async #trouble(): Promise<void> {
    const began = performance.now();
    const underWay: Promise<void>[] = [];
    for (const { atMs, happens } of this.#plan.events) {
      await sleep(Math.max(0, began + atMs - performance.now()), undefined, { signal: this.#signal });
      const happening = happens.is === 'clinic lives' ? this.#live(happens.events) : this.#disturb(happens);
      // A failed event is reported below, after all have ended.
      happening.catch(() => undefined);
      underWay.push(happening);
    }
    await Promise.all(underWay);
  }

  async #live(events: number): Promise<void> {
    const done = (await this.#sandbox.order({ live: events })) as string[] | null;
    this.#tell(`the clinic: ${done?.join('; ') ?? 'its practice software is down'}`);
  }

  async #disturb(what: Disturbance): Promise<void> {
    const { services } = this.#setting;
    this.#tell(Object.values(what).join(', '));
    this.#disturbances[what.is] = (this.#disturbances[what.is] ?? 0) + 1;
    switch (what.is) {
      case 'daemon killed': {
        const daemon = this.#daemons[what.which];
        await daemon?.kill();
        await sleep(what.forMs);
        return daemon?.start();
      }
      case 'daemon stands still':
        return this.#daemons[what.which]?.standStill(what.forMs);
      case 'writes forgotten':
        await this.#sandbox.order({ forgetWrites: what.times });
        return;
      case 'server killed': {
        const server = this.#serverOf(what.place);
        if (!server.isUp) return;
        await server.kill();
        await sleep(what.forMs);
        return server.start();
      }
      case 'connections cut':
        for (let left = what.times; left > 0; left--) {
          this.#proxies[what.place].cut();
          await sleep(200);
        }
        return;
      case 'practice API fails': {
        const { share } = what;
        await this.#sandbox.order({
          faults: {
            http500: { probability: share / 2 },
            truncatedBody: { probability: share / 2 },
            timeoutMs: { probability: share / 4, ms: 1_500 },
            connectionReset: { probability: share / 4, when: 'after' },
          },
        });
        await sleep(what.forMs);
        await this.#sandbox.order({ faults: noFaults });
        return;
      }
      case 'ERP fails':
        await this.#erp.order(what.share);
        await sleep(what.forMs);
        await this.#erp.order(0);
        return;
      case 'clock moved':
        this.#clockAheadMs = what.byMs;
        await this.#sandbox.order({ clockAheadMs: what.byMs });
        return;
      case 'Schedule deleted':
        return this.#deleteSchedule();
      case 'practice API hangs':
        await this.#sandbox.order({ faults: { timeoutMs: { probability: 1, ms: what.forMs } } });
        await sleep(what.forMs);
        await this.#sandbox.order({ faults: noFaults });
        return;
      case 'PostgreSQL read-only':
        return this.#withSetting('set default_transaction_read_only = on', 'reset default_transaction_read_only', what);
      case 'PostgreSQL takes no connections':
        return this.#withSetting('connection limit 0', 'connection limit -1', what);
      case 'disk full':
        if (!services.hasOwnDisk)
          return this.#tell('PostgreSQL has no disk of its own here, since nothing may be mounted');
        services.fillDisk();
        await sleep(what.forMs);
        services.emptyDisk();
        return;
    }
  }

  /** Deletes the Schedule, as an operator might do by mistake. */
  async #deleteSchedule(): Promise<void> {
    const connection = await Connection.connect({ address: `127.0.0.1:${this.#setting.services.temporal.port}` });
    try {
      const [id] = await this.#asked<{ value: string }>(`select value from meta where key = 'database_id'`);
      await new Client({ connection }).schedule.getHandle(`sync-window/${installation}-${id?.value}`).delete();
    } catch (error) {
      // Temporal is down, or no daemon has created the Schedule yet.
      this.#tell(`the Schedule was not deleted: ${told(error).split('\n')[0]}`);
    } finally {
      await connection.close();
    }
  }

  /**
   * Changes a setting of the round's database for a while. It affects new connections, so the daemons' connections are
   * ended.
   */
  async #withSetting(set: string, back: string, { forMs }: { forMs: number }): Promise<void> {
    const { name } = this.#database;
    const apply = async (setting: string) => {
      // The new connection may be read-only, too.
      await this.#asked(`set transaction read write; alter database ${name} ${setting}`);
      await this.#asked(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid() and usename <> current_user`,
      );
    };
    try {
      await apply(set);
      await sleep(forMs);
    } catch (error) {
      this.#tell(`PostgreSQL did not take a setting: ${told(error).split('\n')[0]}`);
    }
    await this.#until('a setting that is taken back', settleMs, async () => {
      await apply(back);
      return true;
    });
  }

  #serverOf(place: Place) {
    const { postgres, temporal } = this.#setting.services;
    return { postgres, temporal, sandbox: this.#sandbox, erp: this.#erp }[place];
  }

  /** Ends all disturbances and the events in the clinic. */
  async #calm(): Promise<void> {
    this.#tell('calm');
    const { services } = this.#setting;
    services.emptyDisk();
    if (services.postgres.hasEnded()) await services.postgres.kill();
    await Promise.all([services.postgres.start(), services.temporal.start(), this.#sandbox.start()]);
    await this.#sandbox.order({ faults: noFaults });
    await this.#sandbox.order({ lateCommitShare: 0 });
    await this.#sandbox.order({ forgetWrites: 0 });
    if (this.#plan.erp !== null) {
      await this.#erp.start();
      await this.#erp.order(0);
    }
    for (const daemon of this.#daemons) daemon.start();
  }

  /**
   * Waits until the second window that opened since has read what an interrupted walk left out, and nothing is left to
   * deliver.
   */
  async #settle(): Promise<void> {
    // Consecutive idle windows share a row, which counts them.
    const closed = async () => {
      const [row] = await this.#asked<{ n: number }>(
        `select coalesce(sum(coalesce(idle_windows, 1)), 0)::int as n from sync_window where outcome = 'closed'`,
      );
      return row?.n ?? 0;
    };
    let before: number | null = null;
    await this.#until('two windows after the calm', settleMs, async () => {
      before ??= await closed();
      // The first window to close may have opened earlier.
      return (await closed()) >= before + 3;
    });
    if (this.#plan.erp === null) return;
    const { matching } = hurriedRecord(this.#plan.erp).capabilities.lines;
    const openItems = matching ? '(select count(*) from erp_open_item where touched <> matched)::int' : '0';
    await this.#until('the end of the delivery', settleMs, async () => {
      const [left] = await this.#asked<{ n: number }>(
        `select (select count(*) from erp_unit where state not in ('delivered', 'refused', 'excluded', 'cancelled_out'))::int
           + (select count(*) from erp_number_due)::int
           + (select count(*) from write_back where value_is <> 'entry_id' and (state in ('pending', 'failed') or state = 'done' and read_back is null))::int
           + ${openItems} as n`,
      );
      return left?.n === 0;
    });
  }

  /** Pauses the Schedule, and waits until the running windows end. */
  async #workflowsEnd(): Promise<void> {
    const connection = await Connection.connect({ address: `127.0.0.1:${this.#setting.services.temporal.port}` });
    try {
      const client = new Client({ connection });
      const [id] = await this.#asked<{ value: string }>(`select value from meta where key = 'database_id'`);
      const schedule = client.schedule.getHandle(`sync-window/${installation}-${id?.value}`);
      let open: string[] = [];
      // Temporal's list may lack a workflow that the Schedule has just started.
      let looksWithout = 0;
      const isOver = async () => {
        // A starting daemon may have read the Schedule before the pause, and written it afterwards.
        if (!(await schedule.describe()).state.paused) await schedule.pause('the round ends');
        open = [];
        for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
          if (workflowId.includes(`-${id?.value}`)) open.push(workflowId);
        for (const { id: window } of await this.#asked<{ id: number }>(
          `select id from sync_window where outcome = 'open'`,
        ))
          open.push(`window ${window}`);
        looksWithout = open.length === 0 ? looksWithout + 1 : 0;
        return looksWithout * pollMs >= listLagMs;
      };
      await this.#until(() => `the end of ${open.join(', ')}`, workflowsEndMs, isOver);
      await schedule.delete();
    } finally {
      await connection.close();
    }
  }

  /** Describes the running workflows in Temporal, to find the cause of a failed round. */
  async #inTemporal(): Promise<string[]> {
    const said: string[] = [];
    try {
      const connection = await Connection.connect({ address: `127.0.0.1:${this.#setting.services.temporal.port}` });
      try {
        const client = new Client({ connection });
        const [id] = await this.#asked<{ value: string }>(`select value from meta where key = 'database_id'`);
        for await (const { workflowId, runId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
          if (!workflowId.includes(`-${id?.value}`)) continue;
          const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
          const { pendingActivities, pendingWorkflowTask } = raw;
          said.push(`under way: ${workflowId}: ${JSON.stringify({ pendingActivities, pendingWorkflowTask })}`);
        }
        const schedule = client.schedule.getHandle(`sync-window/${installation}-${id?.value}`);
        said.push(
          `the Schedule: ${JSON.stringify(await schedule.describe().then(({ info, state }) => ({ info, state })))}`,
        );
      } finally {
        await connection.close();
      }
    } catch (error) {
      said.push(`Temporal does not tell what is under way: ${told(error)}`);
    }
    return said;
  }

  async #judge(): Promise<void> {
    const { services, mapping } = this.#setting;
    if (this.#plan.erp !== null) {
      const misdeeds = ((await this.#erp.order(0)) ?? []) as string[];
      this.#wrong.push(...misdeeds.map((text) => `the ERP saw: ${text}`));
    }
    await this.#sandbox.kill();
    const undisturbed = await services.newDatabase();
    try {
      this.#wrong.push(
        ...(await judge({
          ...{ db: this.#db, databaseUrl: this.#database.url, undisturbed, folder: this.#folder, mapping, token },
          ...{ state: this.#stateFile, books: this.#plan.erp === null ? null : this.#booksFile, seed: this.#seed },
          clockAheadMs: this.#clockAheadMs,
        })),
      );
    } finally {
      await services.dropDatabase(undisturbed);
    }
  }

  async #report(): Promise<RoundReport> {
    const count = (sql: string) =>
      this.#asked<{ n: number }>(sql).then(
        ([row]) => row?.n ?? 0,
        () => 0,
      );
    return {
      ...{ seed: this.#seed, wrong: this.#wrong, story: this.#story, disturbances: this.#disturbances },
      seconds: (performance.now() - this.#began) / 1_000,
      windows: await count('select count(*)::int as n from sync_window'),
      entries: await count('select count(*)::int as n from entry'),
      delivered: await count(`select count(*)::int as n from erp_unit where state = 'delivered'`),
    };
  }

  #windows(): Promise<unknown[]> {
    return this.#asked(`select from sync_window where outcome = 'closed'`);
  }

  /** Queries the database directly, without the proxy. */
  #asked<Row>(sql: string, bindings: readonly (string | number | Date)[] = []): Promise<Row[]> {
    return query<Row>(this.#db, sql, bindings as never);
  }

  /** Polls until the condition is true. Throws Unsettled. */
  async #until(what: string | (() => string), timeoutMs: number, isSo: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + timeoutMs;
    let error: unknown = null;
    while (performance.now() < until) {
      this.#signal.throwIfAborted();
      try {
        if (await isSo()) return;
      } catch (caught) {
        // If the connection was cut, the next attempt makes a new one.
        error = caught;
      }
      await sleep(pollMs);
    }
    const why = error === null ? '' : ` (${told(error)})`;
    throw new Unsettled(`${typeof what === 'string' ? what : what()} did not come within ${timeoutMs / 1_000} s${why}`);
  }

  #tell(line: string): void {
    const text = `${((performance.now() - this.#began) / 1_000).toFixed(1)} s: ${line}`;
    this.#story.push(text);
    this.#setting.tell?.(text);
  }
}

class Unsettled extends Error {}

function told(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
