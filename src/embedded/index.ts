export { startEphemeralPostgres, startEphemeralTemporal } from './ephemeral.ts';
export { ServiceError, type ServiceErrorCode } from './errors.ts';
export type { ServicesOptions } from './options.ts';
export { acquirePostgres, type PostgresHandle } from './postgres.ts';
export { acquireTemporal, recordedTemporal, type TemporalHandle } from './temporal.ts';
