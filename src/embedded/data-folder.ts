import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { postgresFolder, stopPostgres } from './postgres.ts';
import { clusterExists, clusterFolder } from './postgres-cluster.ts';
import { stopAbandoned } from './shared-server.ts';
import { stopTemporal, temporalFolder } from './temporal.ts';

/**
 * Names that vetledger writes into a data folder. `dev-…` are data folders of demos with an ERP. `tryton` holds the
 * program and data of the demo's Tryton.
 */
const ours =
  /^(services|logs|cache|erp|dev|dev-\w+|tryton|postgres(\.location|\.new|\.password)?|temporal\.db(-\w+)?)$/;

/** Names in a data folder that vetledger did not write. Null if the folder is not a data folder. */
export function foreignNames(dataDir: string): string[] | null {
  if (!existsSync(join(dataDir, 'services'))) return null;
  return readdirSync(dataDir).filter((name) => !ours.test(name));
}

/** The data folder, and the data folders of demos in it. */
export function dataFoldersIn(dataDir: string): string[] {
  const demos = readdirSync(dataDir).filter((name) => /^dev-\w+$/.test(name));
  return [dataDir, ...demos.map((name) => join(dataDir, name))];
}

/** Whether the data folder has a cluster of the embedded PostgreSQL. */
export function hasCluster(dataDir: string): boolean {
  return clusterExists(clusterFolder(dataDir));
}

/**
 * The ids of the processes that use the embedded servers of a data folder. If there are none, servers that were left
 * running are stopped.
 */
export async function usersOfData(dataDir: string): Promise<number[]> {
  const users = [
    ...(await stopAbandoned(postgresFolder(dataDir), stopPostgres)),
    ...(await stopAbandoned(temporalFolder(dataDir), stopTemporal)),
  ];
  return [...new Set(users)];
}

/** Removes a data folder and its cluster, which may be in another place. No process may use them. */
export function removeData(dataDir: string): void {
  const cluster = clusterFolder(dataDir);
  if (clusterExists(cluster)) rmSync(cluster, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
