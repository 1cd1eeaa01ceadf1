import { totalmem } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { machine } from '../measure.ts';
import { run } from './processes.ts';
import { peerCommand } from './venvs.ts';

export interface Database {
  /** The URL of a migrated database, with the runtime role. */
  url: string;
  ownerUrl: string;
  client: pg.Client;
  drop(): Promise<void>;
}

/** PostgreSQL (without waiting for the disk) and a Temporal development server in memory, which all scenarios share. */
export interface Services {
  temporalAddress: string;
  /** The first lines of a section: the machine and the measured programs. */
  heading: string[];
  newDatabase(): Promise<Database>;
  /** Seconds from the start of the first activity with a matching name to the end of the last one, in one run. */
  activitySeconds(workflowId: string, runId: string, name: RegExp): Promise<number>;
  stop(): Promise<void>;
}

export async function startServices(): Promise<Services> {
  const [postgres, temporal] = await Promise.all([
    startEphemeralPostgres(undefined, { large: true }),
    startEphemeralTemporal(),
  ]);
  const admin = new pg.Client({ connectionString: postgres.ownerUrl });
  await admin.connect();
  const { rows } = await admin.query<{ server_version: string }>('show server_version');
  const connection = await Connection.connect({ address: temporal.address });
  const temporalClient = new Client({ connection });
  const peers = [await peerCommand('dlt'), await peerCommand('airbyte')];
  let made = 0;
  return {
    temporalAddress: temporal.address,
    heading: [
      ...machine(),
      `${Math.round(totalmem() / 2 ** 30)} GB of memory; PostgreSQL ${rows[0]!.server_version.split(' ')[0]} without waits for the disk, Temporal ${await temporalVersion(connection)}`,
      `in memory; ${peers.map(({ name, version }) => `${name} ${version}`).join(', ')}, ${await pythonVersion(peers[0]!.python)}.`,
    ],
    newDatabase: async () => {
      made += 1;
      const name = `bench_${process.pid}_${made}`;
      await admin.query(`create database ${name}`);
      const [url, ownerUrl] = [postgres.url, postgres.ownerUrl].map((at) => {
        const own = new URL(at);
        own.pathname = `/${name}`;
        return own.href;
      }) as [string, string];
      await migrateAsOwner({ url, ownerUrl });
      const client = new pg.Client({ connectionString: ownerUrl });
      await client.connect();
      return {
        url,
        ownerUrl,
        client,
        drop: async () => {
          await client.end();
          await admin.query(`drop database ${name} with (force)`);
        },
      };
    },
    activitySeconds: async (workflowId, runId, name) => {
      const { events } = await temporalClient.workflow.getHandle(workflowId, runId).fetchHistory();
      const wanted = new Set<string>();
      const starts: number[] = [];
      const ends: number[] = [];
      for (const event of events ?? []) {
        const at = tsToMs(event.eventTime);
        const scheduled = event.activityTaskScheduledEventAttributes;
        if (scheduled && name.test(scheduled.activityType?.name ?? '')) {
          wanted.add(String(event.eventId));
          starts.push(at);
        }
        const completed = event.activityTaskCompletedEventAttributes;
        if (completed && wanted.has(String(completed.scheduledEventId))) ends.push(at);
      }
      return ends.length ? (Math.max(...ends) - Math.min(...starts)) / 1000 : 0;
    },
    stop: async () => {
      await connection.close();
      await admin.end();
      await temporal.release();
      await postgres.release();
    },
  };
}

async function temporalVersion(connection: Connection): Promise<string> {
  return (await connection.workflowService.getSystemInfo({})).serverVersion ?? 'of unknown version';
}

async function pythonVersion(python: string): Promise<string> {
  const { stdout } = await run({ command: python, args: ['--version'], timeoutMs: 10_000 });
  return stdout.trim();
}
