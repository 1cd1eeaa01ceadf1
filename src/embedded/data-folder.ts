import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { postgresFolder, stopPostgres } from './postgres.ts';
import { clusterExists, clusterFolder } from './postgres-cluster.ts';
import { stopAbandoned } from './shared-server.ts';
import { stopTemporal, temporalFolder } from './temporal.ts';

/** What vetledger writes into a data folder; `dev-…` are data folders of demos with an ERP, `tryton` is that ERP's program and data. */
const ours =
  /^(services|logs|cache|erp|dev|dev-\w+|tryton|postgres(\.location|\.new|\.password)?|temporal\.db(-\w+)?)$/;

/** Names in a data folder that vetledger did not write; null: the folder is no data folder at all. */
export function foreignNames(dataDir: string): string[] | null {
  if (!existsSync(join(dataDir, 'services'))) return null;
  return readdirSync(dataDir).filter((name) => !ours.test(name));
}

/** The data folder, and those of demos in it. */
export function dataFoldersIn(dataDir: string): string[] {
  const demos = readdirSync(dataDir).filter((name) => /^dev-\w+$/.test(name));
  return [dataDir, ...demos.map((name) => join(dataDir, name))];
}

/** Whether the data folder has an embedded PostgreSQL's cluster. */
export function hasCluster(dataDir: string): boolean {
  return clusterExists(clusterFolder(dataDir));
}

/** The processes that use the embedded servers of a data folder. Where there is none, servers that were left running are stopped. */
export async function usersOfData(dataDir: string): Promise<number[]> {
  const users = [
    ...(await stopAbandoned(postgresFolder(dataDir), stopPostgres)),
    ...(await stopAbandoned(temporalFolder(dataDir), stopTemporal)),
  ];
  return [...new Set(users)];
}

/** Removes a data folder with its cluster, wherever that is. No process may use it. */
export function removeData(dataDir: string): void {
  const cluster = clusterFolder(dataDir);
  if (clusterExists(cluster)) rmSync(cluster, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
