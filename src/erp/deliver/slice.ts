import type { InstallationConfig } from '../../config/load.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PlainError } from '../../domain/errors.ts';
import { dueWork, pauseOf } from '../outbox/read.ts';
import type { ErpTarget } from '../port.ts';

/** What a log takes; pino's loggers do. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface DeliverPorts {
  db: Db;
  databaseId: string;
  installation: InstallationConfig;
  target: ErpTarget;
  /** Who delivers: the same name again is the next attempt of the same work, and takes over from the one before at once. */
  holder: string;
  clock: Clock;
  /** Aborts when the work is to stop. */
  signal: AbortSignal;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
  onProgress(counts: { delivered: number; left: number }): void;
  log: Logger;
}

export interface SliceReport {
  delivered: number;
  refused: number;
  /** Units that are in doubt at the end. */
  uncertain: number;
  /** Due now or later without anybody doing something. */
  left: number;
  /** Until something is due again; 0: now; null: nothing is. */
  nextDueMs: number | null;
  /** Why nothing more was sent: the ERP is down, throttles or is locked, delivery is paused, or another process delivers. */
  waitingFor: PlainError | null;
}

/** Resolves what is in doubt, then sends what is due, batch by batch, for `longestMs` at most. */
export async function deliverSlice(ports: DeliverPorts, _options: { longestMs: number }): Promise<SliceReport> {
  const { db, installation } = ports;
  const paused = await pauseOf(db, installation.id);
  const work = await dueWork(db, installation.id);
  return {
    ...{ delivered: 0, refused: 0, uncertain: 0, ...work },
    ...(paused === null ? {} : { nextDueMs: null }),
    waitingFor: null,
  };
}
