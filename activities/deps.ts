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
import type { WindowOutcome } from '../workflows/messages.ts';

/** What the activities are made from; everything from outside comes in here. */
export interface ActivityDeps {
  db: Db;
  /** Short statements that may not wait for a connection behind long ones; default: `db`. */
  promptDb?: Db;
  installations: ReadonlyMap<number, InstallationConfig>;
  /** Whether a process at work serves an installation; default: no other one does. */
  isServed?: (installation: number) => Promise<boolean>;
  practice(installation: number): PracticeClient;
  /** For health signals to the activity's own workflow, and to learn how another one ended. */
  workflows: Pick<WorkflowClient, 'getHandle' | 'withDeadline'>;
  clock: () => Date;
  log: Logger;
  /** Signs the books at the end of a window; null: they are not sealed. */
  sealKey: Ed25519Key | null;
  /** What a workflow that an operator starts is told of this process: a replay. */
  windows?: { timeoutSeconds: number; searchAttributes: boolean };
  /** Whether scrubs run in this process. */
  scrubs?: boolean;
  /** Delivery to ERPs; absent where nothing is delivered. */
  delivery?: Delivery;
  /** Begins the delivery of an installation, or tells the one under way that there may be due work. */
  requestDelivery?: (installation: number, timeoutMs: number) => Promise<void>;
  onProgress?: (progress: StepProgress) => void;
  onWindow?: (outcome: WindowOutcome) => void;
  /** Told of what happens, as it happens. */
  onEvent?: (event: DaemonEvent) => void;
}

export interface StepProgress {
  installation: number;
  step: string;
  done: number;
  total: number | null;
}

/** No process at work serves an installation. */
export class NotServed extends Error {
  readonly code = 'installation_not_served';
  readonly todo = 'start `vetledger run` with a configuration that has it: it goes on where it was';

  constructor(installation: number) {
    super(`no process that is at work serves installation ${installation}`);
  }
}

/** Throws NotServed: another process that serves it would have taken the step (elsewhere.ts). */
export function installationOf({ installations }: Pick<ActivityDeps, 'installations'>, id: number): InstallationConfig {
  const found = installations.get(id);
  if (!found) throw new NotServed(id);
  return found;
}

/** An installation's lock dates as its source tells them, stored; a warning is logged where it cannot tell one. */
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
      'the source does not tell this department’s lock date; the last known one is used',
    ),
  );
}
