import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributes } from '../domain/search-attributes.ts';
import type { TemporalSecurity } from '../domain/temporal-security.ts';
import { serverErrors } from '../texts/errors/servers.ts';
import { serverProgress } from '../texts/progress.ts';
import { serverEnvironment } from './environment.ts';
import { portOfServer } from './noted-port.ts';
import type { ServicesOptions } from './options.ts';
import { freePort, isRunning, spawnServer, stopProcess, waitUntilAnswers } from './processes.ts';
import { reasonOf, ServiceError, startFailure } from './service-error.ts';
import { notOurs, type Ports, recordedServer, type ServerRecord, shareServer } from './shared-server.ts';
import { temporalBinary } from './temporal-binary.ts';

const namespace = 'default';
const reachTimeoutMs = 5_000;
const startTimeoutMs = 60_000;
const retentionMs = 7 * 24 * 3_600_000;

export interface TemporalHandle {
  /** host:port */
  address: string;
  /** The web UI of an embedded server. Null if it has none, and for a given server. */
  uiUrl: string | null;
  embedded: boolean;
  /**
   * Restarts an embedded server that has died. False if it runs, or if another process has restarted it. Throws
   * ServiceError if the new server has another address, because this process cannot switch to it.
   */
  revive(): Promise<boolean>;
  /** Ends this use of the server. The last user of an embedded server stops it. */
  release(): Promise<void>;
}

/**
 * Returns the given Temporal server, after checking within 5 s that it answers. Without one, starts or joins the
 * embedded development server of `dataDir` (DESIGN: The service parts and how they start). Throws ServiceError
 * `temporal_unreachable` or `temporal_start_failed`.
 */
export async function acquireTemporal(options: ServicesOptions): Promise<TemporalHandle> {
  if (options.temporalAddress) {
    await checkReachable(options.temporalAddress, options.temporalSecurity);
    return { address: options.temporalAddress, uiUrl: null, embedded: false, ...notOurs };
  }
  return acquireEmbeddedTemporal(options, { durable: true });
}

/** Starts or joins the embedded server. `durable: false` keeps its state in memory, for temporary data. */
export async function acquireEmbeddedTemporal(
  options: ServicesOptions,
  { durable }: { durable: boolean },
): Promise<TemporalHandle> {
  const dataDir = resolve(options.dataDir);
  const logFile = join(dataDir, 'logs', 'temporal.log');
  try {
    const server = await shareServer<string>({
      label: 'Temporal',
      folder: temporalFolder(dataDir),
      progress: options.progress,
      prepare: () => temporalBinary({ ...options, dataDir }),
      start: async (binary, record) => {
        const ports = await choosePorts(options, dataDir);
        const child = await spawnServer({
          command: binary,
          args: [...serverArguments(ports), ...(durable ? ['--db-filename', join(dataDir, 'temporal.db')] : [])],
          env: serverEnvironment(options.env),
          logFile,
        });
        const started = record(child.pid, ports);
        await waitUntilAnswers('Temporal', started, () => answers(started), startTimeoutMs, logFile);
        await keepHistories(started);
        options.progress(serverProgress.ready({ server: 'Temporal', port: ports.port }));
      },
      answers,
      stop: stopTemporal,
    });
    const { port, uiPort } = server.record;
    return {
      address: `127.0.0.1:${port}`,
      uiUrl: uiAddress(uiPort),
      embedded: true,
      revive: async () => {
        const revived = await server.revive();
        if (server.current().port !== port)
          throw new ServiceError(serverErrors.temporalMoved({ from: port, to: server.current().port }));
        return revived;
      },
      release: server.release,
    };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw startFailure('temporal_start_failed', dataDir, logFile, 'temporal.address (TEMPORAL_ADDRESS)', error);
  }
}

/**
 * The embedded server that a process has started for this `data_dir` and not stopped. Null if there is none. It starts
 * and changes nothing.
 */
export function recordedTemporal(
  dataDir: string,
): { address: string; uiUrl: string | null; pid: number; isRunning: boolean } | null {
  const record = recordedServer(temporalFolder(resolve(dataDir)));
  if (record === null) return null;
  const { port, uiPort, pid } = record;
  return { address: `127.0.0.1:${port}`, uiUrl: uiAddress(uiPort), pid, isRunning: isRunning(record) };
}

function uiAddress(port: number | null): string | null {
  return port === null ? null : `http://127.0.0.1:${port}`;
}

/** The folder of the embedded server's lock, record and users. */
export function temporalFolder(dataDir: string): string {
  return join(dataDir, 'services', 'temporal');
}

/** Requests a shutdown, then kills the process. */
export function stopTemporal(record: ServerRecord): Promise<void> {
  return stopProcess(record, [
    { signal: 'SIGTERM', waitMs: 20_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}

async function choosePorts(options: ServicesOptions, dataDir: string): Promise<Ports> {
  return {
    port: options.temporalPort ?? (await portOfServer(temporalFolder(dataDir), 'Temporal', options.progress)),
    uiPort: options.ui === true ? await freePort() : null,
  };
}

function serverArguments({ port, uiPort }: Ports): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

async function answers({ port }: ServerRecord): Promise<boolean> {
  try {
    await connected(`127.0.0.1:${port}`, (connection) =>
      connection.workflowService.countWorkflowExecutions({ namespace }),
    );
    return true;
  } catch {
    return false;
  }
}

/** Sets how long histories are kept. The default is one day, and the start command has no option for it. */
async function keepHistories({ port }: ServerRecord): Promise<void> {
  await connected(`127.0.0.1:${port}`, (connection) =>
    connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionMs) },
    }),
  );
}

async function connected<T>(address: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address, connectTimeout: reachTimeoutMs });
  try {
    return await connection.withDeadline(Date.now() + reachTimeoutMs, () => work(connection));
  } finally {
    await connection.close();
  }
}

async function checkReachable(address: string, security: TemporalSecurity = { tls: false }): Promise<void> {
  try {
    const connection = await Connection.connect({ ...security, address, connectTimeout: reachTimeoutMs });
    await connection.close();
  } catch (error) {
    throw new ServiceError(serverErrors.temporalUnreachable({ address, reason: reasonOf(error) }));
  }
}
