import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributes } from '../domain/search-attributes.ts';
import { reasonOf, ServiceError, startFailure } from './errors.ts';
import type { ServicesOptions } from './options.ts';
import { freePort, isPortFree, spawnServer, stopProcess, waitUntilAnswers } from './processes.ts';
import { type Ports, type ServerRecord, shareServer } from './shared-server.ts';
import { temporalBinary } from './temporal-binary.ts';

const namespace = 'default';
const reachTimeoutMs = 5_000;
const startTimeoutMs = 60_000;
const retentionMs = 7 * 24 * 3_600_000;

export interface TemporalHandle {
  /** host:port */
  address: string;
  /** The web UI of an embedded server; null without one, and for a given server, whose UI is elsewhere. */
  uiUrl: string | null;
  embedded: boolean;
  /** Gives the server back; an embedded one ends with its last user. */
  release(): Promise<void>;
}

/**
 * A Temporal server to work with: the given one, checked to be reachable within 5 s, otherwise the embedded development
 * server of `dataDir`, started or joined (DESIGN: The service parts and how they start).
 * Throws ServiceError `temporal_unreachable` or `temporal_start_failed`.
 */
export async function acquireTemporal(options: ServicesOptions): Promise<TemporalHandle> {
  if (options.temporalAddress) {
    await checkReachable(options.temporalAddress);
    return { address: options.temporalAddress, uiUrl: null, embedded: false, release: async () => {} };
  }
  return acquireEmbeddedTemporal(options, { durable: true });
}

/** The embedded server alone; `durable: false` keeps its state in memory, for data nobody keeps. */
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
        const ports = await choosePorts(options);
        const child = await spawnServer({
          command: binary,
          args: [...serverArguments(ports), ...(durable ? ['--db-filename', join(dataDir, 'temporal.db')] : [])],
          env: withoutTemporalSettings(options.env),
          logFile,
        });
        const started = record(child.pid, ports);
        await waitUntilAnswers('Temporal', started, () => answers(started), startTimeoutMs, logFile);
        await keepHistories(started);
        options.progress(`Temporal: ready on 127.0.0.1:${ports.port}`);
      },
      answers,
      stop: stopTemporal,
    });
    const { port, uiPort } = server.record;
    return {
      address: `127.0.0.1:${port}`,
      uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}`,
      embedded: true,
      release: server.release,
    };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw startFailure('temporal_start_failed', dataDir, logFile, 'temporal.address (TEMPORAL_ADDRESS)', error);
  }
}

/** The folder of the embedded server's lock, record and users. */
export function temporalFolder(dataDir: string): string {
  return join(dataDir, 'services', 'temporal');
}

/** The end asked for, then forced. */
export function stopTemporal(record: ServerRecord): Promise<void> {
  return stopProcess(record, [
    { signal: 'SIGTERM', waitMs: 20_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}

async function choosePorts(options: ServicesOptions): Promise<Ports> {
  const ui = options.ui ?? true;
  const wanted = [
    { port: options.temporalPort, setting: 'temporal.port' },
    ...(ui ? [{ port: options.uiPort, setting: 'temporal.ui_port' }] : []),
  ];
  for (const { port, setting } of wanted) {
    if (port && !(await isPortFree(port))) {
      throw new ServiceError(
        'temporal_start_failed',
        `Port ${port}, set by ${setting}, is taken by another process.`,
        `End that process, or set ${setting} to another port; without ${setting} a free one is chosen.`,
      );
    }
  }
  return {
    port: options.temporalPort || (await freePort()),
    uiPort: ui ? options.uiPort || (await freePort()) : null,
  };
}

function serverArguments({ port, uiPort }: Ports): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

/** TEMPORAL_* configure the client side of the CLI, for another server than the one to be started. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** Whether the server answers and its namespace takes workflows. */
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

/** The development server forgets a closed workflow after a day; the command that starts it cannot change that. */
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

async function checkReachable(address: string): Promise<void> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: reachTimeoutMs });
    await connection.close();
  } catch (error) {
    throw new ServiceError(
      'temporal_unreachable',
      `Temporal at ${address}, set by temporal.address (TEMPORAL_ADDRESS), cannot be reached: ${reasonOf(error)}`,
      'Start that server or correct temporal.address (TEMPORAL_ADDRESS); leave it empty to use the embedded server.',
    );
  }
}
