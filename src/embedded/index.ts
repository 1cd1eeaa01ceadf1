export { dataFoldersIn, foreignNames, hasCluster, removeData, usersOfData } from './data-folder.ts';
export { startEphemeralPostgres, startEphemeralTemporal } from './ephemeral.ts';
export type { ServicesOptions } from './options.ts';
export { acquirePostgres, type PostgresHandle } from './postgres.ts';
export { ServiceError } from './service-error.ts';
export { acquireTemporal, recordedTemporal, type TemporalHandle } from './temporal.ts';
