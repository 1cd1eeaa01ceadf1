import type { Client } from '@temporalio/client';
import { tellable } from '../db/database-errors.ts';
import { execute } from '../db/rows.ts';
import { within } from '../domain/concurrency.ts';
import type { PlainError } from '../domain/errors.ts';
import { reasonOf } from '../embedded/service-error.ts';
import type { App } from '../runtime/app.ts';

/** Asks PostgreSQL for the least that it can answer, beside the pool, which may be busy; null: it answers. */
export async function probePostgres(
  { presenceDb }: Pick<App, 'presenceDb'>,
  timeoutMs: number,
): Promise<PlainError | null> {
  try {
    await within(timeoutMs, execute(presenceDb, 'select 1'));
    return null;
  } catch (error) {
    return {
      code: 'postgres_unreachable',
      message: `PostgreSQL does not answer: ${tellable(error)}`,
      todo: 'Start it again, or see why it cannot be reached; what was under way goes on by itself.',
    };
  }
}

/** Asks the Temporal server for the least that it can answer; null: it answers. */
export async function probeTemporal(
  client: Pick<Client, 'connection' | 'withDeadline'>,
  timeoutMs: number,
): Promise<PlainError | null> {
  try {
    await client.withDeadline(Date.now() + timeoutMs, () => client.connection.workflowService.getSystemInfo({}));
    return null;
  } catch (error) {
    return {
      code: 'temporal_unreachable',
      message: `Temporal does not answer: ${reasonOf(error)}`,
      todo: 'Start it again, or see why it cannot be reached; until then no window opens.',
    };
  }
}
