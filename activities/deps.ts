import type { WorkflowClient } from '@temporalio/client';
import type { Logger } from 'pino';
import { type LockDateOf, storedLockDates } from '../src/bookkeeping/lock-dates.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import type { Transact } from '../src/db/lease.ts';
import type { Db } from '../src/db/pool.ts';
import type { DaemonEvent } from '../src/domain/events.ts';
import type { Ed25519Key } from '../src/domain/signature.ts';
import type { Delivery } from '../src/erp/delivery.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { WindowOutcome } from '../workflows/messages.ts';

/** The dependencies of the activities. Tests replace them. */
export interface ActivityDeps {
  db: Db;
  /** Database handle for short statements, which must not wait behind long ones. Default: `db`. */
  promptDb?: Db;
  installations: ReadonlyMap<number, InstallationConfig>;
  /** Whether a running process serves an installation. Default: no other process does. */
  isServed?: (installation: number) => Promise<boolean>;
  practice(installation: number): PracticeClient;
  /** Sends health signals to the activity's own workflow, and reads how another workflow ended. */
  workflows: Pick<WorkflowClient, 'getHandle' | 'withDeadline'>;
  clock: () => Date;
  log: Logger;
  /** Signs the books at the end of a window. If null, the books are not sealed. */
  sealKey: Ed25519Key | null;
  /** Settings for a replay that an operator starts in the Temporal UI. */
  windows?: { timeoutSeconds: number; searchAttributes: boolean };
  scrubs?: boolean;
  /** Delivery to ERPs; absent if nothing is delivered. */
  delivery?: Delivery;
  /** Starts the delivery of an installation, or signals the running one that units may be due. */
  requestDelivery?: (installation: number, timeoutMs: number) => Promise<void>;
  onProgress?: (progress: StepProgress) => void;
  onWindow?: (outcome: WindowOutcome) => void;
  onEvent?: (event: DaemonEvent) => void;
}

export interface StepProgress {
  installation: number;
  step: string;
  done: number;
  total: number | null;
}

/** No running process serves an installation. */
export class NotServed extends Error {
  readonly code: string;
  readonly todo: string;

  constructor(installation: number) {
    const { code, message, todo } = windowErrors.notServed({ installation });
    super(message);
    this.code = code;
    this.todo = todo;
  }
}

/**
 * Throws NotServed if this process does not serve the installation. If another process did, it would have taken the
 * step (elsewhere.ts).
 */
export function installationOf({ installations }: Pick<ActivityDeps, 'installations'>, id: number): InstallationConfig {
  const found = installations.get(id);
  if (!found) throw new NotServed(id);
  return found;
}

/** The lock dates of an installation, read from the source and stored. Logs a warning if the source does not answer. */
export function lockDates(
  deps: ActivityDeps,
  installation: number,
  heartbeat: { client(of: PracticeClient): PracticeClient },
  transact: Transact,
): LockDateOf {
  const client = heartbeat.client(deps.practice(installation));
  return storedLockDates({ db: deps.db, transact }, client, installation, (department) =>
    deps.log.warn(
      { installation, department },
      'the source does not return this department’s lock date; the last known one is used',
    ),
  );
}
