// A Temporal server that stores its data in PostgreSQL, as in production (docs, "Deployment"): the release and the
// number of history shards are those of docker-compose.yml. Go builds it once, into the user's cache folder.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { cacheFolder } from '../../src/embedded/folders.ts';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { freePort, isPortFree, lastLines } from '../../src/embedded/processes.ts';

const compose = readFileSync(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8');
const release = /temporalio\/server:(\S+)/.exec(compose)![1]!;
const shards = Number(/NUM_HISTORY_SHARDS: (\d+)/.exec(compose)![1]);
const module = `go.temporal.io/server@v${release}`;
const databases = { temporal: 'temporal', temporal_visibility: 'visibility' };
const buildTimeoutMs = 1_800_000;
const answerTimeoutMs = 180_000;
const run = promisify(execFile);

export interface TemporalOnPostgres {
  address: string;
  release(): Promise<void>;
}

export async function startTemporalOnPostgres(progress: (line: string) => void): Promise<TemporalOnPostgres> {
  const bin = join(cacheFolder(process.env, tmpdir()), `temporal-server-${release}`);
  await build(bin, progress);
  const schema = join(await moduleFolder(), 'schema', 'postgresql', 'v12');
  const postgres = await startEphemeralPostgres(progress, { large: true });
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-temporal-'));
  let server: ChildProcess | null = null;
  const stop = async () => {
    if (server !== null && server.exitCode === null && server.signalCode === null) {
      const ended = new Promise((resolve) => server!.once('exit', resolve));
      server.kill('SIGTERM');
      const timer = setTimeout(() => server!.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(timer);
    }
    await postgres.release();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await makeDatabases(bin, schema, new URL(postgres.ownerUrl));
    const port = await writeConfig(folder, new URL(postgres.ownerUrl));
    const logFile = join(folder, 'temporal.log');
    const log = openSync(logFile, 'w');
    server = spawn(join(bin, 'server'), ['--root', folder, '--config', '.', '--env', 'bench', 'start'], {
      stdio: ['ignore', log, log],
    });
    const address = `127.0.0.1:${port}`;
    await withNamespace(address, server, logFile);
    progress(`Temporal ${release} with PostgreSQL, ${shards} shards: ready on ${address}`);
    return { address, release: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A free port that fits into a smallint, because Temporal's schema for PostgreSQL stores membership ports as such. */
async function smallFreePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 20_000 + randomInt(12_000);
    if (await isPortFree(port)) return port;
  }
  throw new Error('no port between 20000 and 32000 is free');
}

async function build(bin: string, progress: (line: string) => void): Promise<void> {
  const programs = { server: 'cmd/server', sql: 'cmd/tools/sql' };
  for (const [name, path] of Object.entries(programs)) {
    if (existsSync(join(bin, name))) continue;
    progress(`Temporal: building ${path} of ${module} with Go, once; this takes some minutes`);
    const source = `go.temporal.io/server/${path}@v${release}`;
    await run('go', ['install', source], { env: { ...process.env, GOBIN: bin }, timeout: buildTimeoutMs });
  }
}

async function moduleFolder(): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { timeout: buildTimeoutMs });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** Creates Temporal's databases like the job `temporal-schema` of docker-compose.yml. */
async function makeDatabases(bin: string, schema: string, owner: URL): Promise<void> {
  const admin = new pg.Client({ connectionString: owner.href });
  await admin.connect();
  for (const [database, kind] of Object.entries(databases)) {
    await admin.query(`create database ${database}`);
    const tool = (...args: string[]) =>
      run(
        join(bin, 'sql'),
        [
          '--plugin',
          'postgres12',
          '--ep',
          owner.hostname,
          '-p',
          owner.port,
          '-u',
          owner.username,
          '--db',
          database,
        ].concat(args),
        { env: { ...process.env, SQL_PASSWORD: decodeURIComponent(owner.password) }, timeout: 300_000 },
      );
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '-d', join(schema, kind, 'versioned'));
  }
  await admin.end();
}

/** Writes the server's configuration with free ports as JSON, which is valid YAML. Returns the port of the frontend. */
async function writeConfig(folder: string, owner: URL): Promise<number> {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectAddr: owner.host, connectProtocol: 'tcp' },
      ...{ user: owner.username, password: decodeURIComponent(owner.password) },
      ...{ maxConns, maxIdleConns: maxConns, maxConnLifetime: '1h' },
    },
  });
  const rpc = async () => ({
    rpc: { grpcPort: await freePort(), membershipPort: await smallFreePort(), bindOnLocalHost: true },
  });
  const services = { frontend: await rpc(), matching: await rpc(), history: await rpc(), worker: await rpc() };
  const port = services.frontend.rpc.grpcPort;
  const address = `127.0.0.1:${port}`;
  const cluster = { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address };
  mkdirSync(join(folder, 'dynamic'));
  writeFileSync(join(folder, 'dynamic', 'none.yaml'), '{}\n');
  const config = {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: shards,
      datastores: { main: store('temporal', 10), visibility: store('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services,
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active', clusterInformation: { active: cluster } },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: address },
    dynamicConfigClient: { filepath: join(folder, 'dynamic', 'none.yaml'), pollInterval: '60s' },
  };
  writeFileSync(join(folder, 'bench.yaml'), JSON.stringify(config, null, 2), { mode: 0o600 });
  return port;
}

/** Creates the namespace once the server answers. */
async function withNamespace(address: string, server: ChildProcess, logFile: string): Promise<void> {
  const deadline = performance.now() + answerTimeoutMs;
  for (let isMade = false; ; ) {
    if (server.exitCode !== null || server.signalCode !== null)
      throw new Error(`the Temporal server has ended: ${lastLines(logFile, 5)}`);
    try {
      const connection = await Connection.connect({ address, connectTimeout: 5_000 });
      try {
        if (!isMade) {
          const workflowExecutionRetentionPeriod = msToTs(7 * 86_400_000);
          await connection.workflowService.registerNamespace({
            namespace: 'default',
            workflowExecutionRetentionPeriod,
          });
          isMade = true;
        }
        // The server's services see a new namespace only after a delay.
        await connection.workflowService.countWorkflowExecutions({ namespace: 'default' });
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (performance.now() > deadline)
        throw new Error(`the Temporal server does not answer: ${lastLines(logFile, 5)}`, { cause: error });
      await sleep(1_000);
    }
  }
}
