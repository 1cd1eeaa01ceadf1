import type { Logger } from 'pino';
import type { InstallationConfig } from '../config/load.ts';
import type { Db } from '../db/pool.ts';
import type { Clock } from '../domain/clock.ts';
import type { PlainError } from '../domain/errors.ts';

/** What a slice of delivery did, and what is left. */
export interface SliceReport {
  delivered: number;
  refused: number;
  uncertain: number;
  /** Due now or later, without anybody doing something. */
  left: number;
  /** Milliseconds until something is due again; 0: now; null: nothing is. */
  nextDueMs: number | null;
  /** The ERP is down, throttles or is locked, the delivery is paused, or another process delivers to the company. */
  waitingFor: PlainError | null;
}

/** What a slice of delivery is given by the activity that runs it. */
export interface SlicePorts {
  installation: InstallationConfig;
  holder: string;
  signal: AbortSignal;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
  onProgress(counts: { delivered: number; left: number }): void;
  log: Logger;
}

/** Delivery to the ERPs of this process's installations. */
export interface Delivery {
  /** Puts what has come into the general ledger into the outbox; returns how many units. */
  enqueue(installation: InstallationConfig): Promise<number>;
  /** Sends what is due, for some minutes at most. */
  slice(ports: SlicePorts): Promise<SliceReport>;
  close(): Promise<void>;
}

export interface DeliveryOptions {
  db: Db;
  databaseId: string;
  clock: Clock;
  log: Logger;
}

/** The delivery of a process: it opens the target of an installation when it is first needed, and keeps it until the end. */
export function openDelivery(_options: DeliveryOptions): Delivery {
  return {
    enqueue: async () => 0,
    slice: async () => ({ delivered: 0, refused: 0, uncertain: 0, left: 0, nextDueMs: null, waitingFor: null }),
    close: async () => undefined,
  };
}
