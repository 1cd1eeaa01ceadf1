// PostgreSQL and Temporal of the rounds: the embedded servers, killed and restarted in the same folder.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { schemaName } from '../../../src/db/pool.ts';
import { acquireEmbeddedPostgres, type PostgresHandle, postgresFolder } from '../../../src/embedded/postgres.ts';
import { freePort } from '../../../src/embedded/processes.ts';
import { acquireEmbeddedTemporal, temporalFolder } from '../../../src/embedded/temporal.ts';
import { migrateAsOwner } from '../../../src/runtime/database.ts';
import { dropDatabase, runAlone, urlOfDatabase } from '../../support/server.ts';

const diskMb = 700;
const startAgainWithinMs = 60_000;
const template = 'chaos_template';

/** A server that can be killed. Its `port` stays the same. */
export interface Server {
  readonly port: number;
  readonly isUp: boolean;
  start(): Promise<void>;
  kill(): Promise<void>;
}

interface Handle {
  release(): Promise<void>;
}

/** An embedded server of one folder. Each start is a further use of it. */
class EmbeddedServer<Used extends Handle> implements Server {
  readonly #record: string;
  readonly #acquire: () => Promise<Used>;
  readonly #uses: Used[] = [];
  #isUp = false;

  constructor(folder: string, acquire: () => Promise<Used>) {
    this.#record = join(folder, 'server.json');
    this.#acquire = acquire;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get port(): number {
    return this.#process().port;
  }

  /** The handle of the last start. */
  get handle(): Used {
    const last = this.#uses.at(-1);
    if (!last) throw new Error('the server was never started');
    return last;
  }

  async start(): Promise<void> {
    if (this.#isUp) return;
    const until = performance.now() + startAgainWithinMs;
    for (;;) {
      try {
        this.#uses.push(await this.#acquire());
        this.#isUp = true;
        return;
      } catch (error) {
        // A killed server may still hold its port or its memory, and a disk may still be full.
        if (performance.now() > until) throw error;
        await sleep(500);
      }
    }
  }

  async kill(): Promise<void> {
    if (!this.#isUp) return;
    this.#isUp = false;
    try {
      process.kill(this.#process().pid, 'SIGKILL');
    } catch {
      // The server has already ended, because its disk was full.
    }
    await sleep(50);
  }

  /** True if the server ended without a kill. */
  hasEnded(): boolean {
    try {
      process.kill(this.#process().pid, 0);
      return false;
    } catch {
      return true;
    }
  }

  async release(): Promise<void> {
    for (const use of this.#uses.splice(0)) await use.release().catch(() => undefined);
    this.#isUp = false;
  }

  #process(): { pid: number; port: number } {
    return JSON.parse(readFileSync(this.#record, 'utf8'));
  }
}

export interface RoundDatabase {
  name: string;
  /** The URL with the program's role and the server's port. */
  url: string;
  ownerUrl: string;
}

export class Services {
  readonly folder: string;
  readonly postgres: EmbeddedServer<PostgresHandle>;
  readonly temporal: Server;
  /** True if PostgreSQL has a separate disk, which a round can fill. */
  readonly hasOwnDisk: boolean;
  readonly #disk: string;
  readonly #temporal: EmbeddedServer<Handle>;

  static async start(): Promise<Services> {
    const services = new Services(await freePort());
    try {
      await Promise.all([services.postgres.start(), services.temporal.start()]);
      const { url, ownerUrl } = services.postgres.handle;
      await runAlone(ownerUrl, `create database ${template}`);
      const name = (of: string) => urlOfDatabase(of, template);
      await migrateAsOwner({ url: name(url), ownerUrl: name(ownerUrl) });
      return services;
    } catch (error) {
      await services.stop();
      throw error;
    }
  }

  private constructor(temporalPort: number) {
    this.folder = mkdtempSync(join(tmpdir(), `vetledger-chaos-${process.pid}-`));
    chmodSync(this.folder, 0o711);
    this.#disk = join(this.folder, 'disk');
    mkdirSync(this.#disk);
    this.hasOwnDisk = mounted(this.#disk);
    const options = { progress: () => undefined, env: process.env, ui: false };
    // The PostgreSQL server is durable: committed data survives a kill, as on users' machines.
    this.postgres = new EmbeddedServer(postgresFolder(this.#disk), () =>
      acquireEmbeddedPostgres({ ...options, dataDir: this.#disk }, { durable: true }),
    );
    this.#temporal = new EmbeddedServer(temporalFolder(this.folder), () =>
      acquireEmbeddedTemporal({ ...options, dataDir: this.folder, temporalPort }, { durable: true }),
    );
    this.temporal = this.#temporal;
  }

  async newDatabase(): Promise<RoundDatabase> {
    const { url, ownerUrl } = this.postgres.handle;
    const name = `round_${randomBytes(6).toString('hex')}`;
    await runAlone(ownerUrl, `create database ${name} template ${template}`);
    const own = urlOfDatabase(ownerUrl, name);
    // This id is part of the names of workflows and task queues.
    await runAlone(
      own,
      `update ${schemaName}.meta set value = '${randomBytes(4).toString('hex')}' where key = 'database_id'`,
    );
    return { name, url: urlOfDatabase(url, name), ownerUrl: own };
  }

  /** Drops the database to free space. If PostgreSQL is too slow, the last round removes everything anyway. */
  async dropDatabase({ name }: RoundDatabase): Promise<void> {
    await dropDatabase(this.postgres.handle.ownerUrl, name).catch((error: unknown) =>
      console.error(`database ${name} is not dropped yet: ${String(error)}`),
    );
  }

  /** Fills PostgreSQL's disk. */
  fillDisk(): void {
    const { bavail, bsize } = statfsSync(this.#disk);
    try {
      writeFileSync(this.#filler, Buffer.alloc(bavail * bsize));
    } catch {
      // PostgreSQL has used some of the space in the meantime.
    }
  }

  emptyDisk(): void {
    rmSync(this.#filler, { force: true });
  }

  get #filler(): string {
    return join(this.#disk, 'filler');
  }

  async stop(): Promise<void> {
    this.emptyDisk();
    await Promise.all([this.postgres.release(), this.#temporal.release()]);
    if (this.hasOwnDisk) execFileSync('umount', ['-l', this.#disk]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Mounts a disk in memory; returns false if that is not permitted. */
function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m,mode=0711`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
