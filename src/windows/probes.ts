import type { Client } from '@temporalio/client';
import { errorText } from '../db/database-errors.ts';
import { within } from '../domain/concurrency.ts';
import { causeOfRefusal } from '../domain/refusals.ts';
import { reasonOf } from '../embedded/service-error.ts';
import type { App } from '../runtime/app.ts';
import { tryWriting } from '../runtime/presence.ts';
import { isGrpcServiceError, namespaceMissing } from '../runtime/temporal-errors.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Whether PostgreSQL lets a new connection write, beside the pool, which may be busy; null: it does. */
export async function probePostgres({ probeDb }: Pick<App, 'probeDb'>, timeoutMs: number): Promise<PlainError | null> {
  try {
    await within(timeoutMs, tryWriting(probeDb));
    return null;
  } catch (error) {
    return (
      causeOfRefusal(error) ?? {
        code: 'postgres_unreachable',
        message: `PostgreSQL does not answer: ${errorText(error)}`,
        todo: 'Start it again, or see why it cannot be reached; what was under way goes on by itself.',
      }
    );
  }
}

/** gRPC's codes of a server that answers and does not tell of namespaces: PERMISSION_DENIED, UNIMPLEMENTED. */
const untold: ReadonlySet<unknown> = new Set([7, 12]);

/** Whether the Temporal server answers and has our namespace; null: it does. */
export async function probeTemporal(
  client: Pick<Client, 'workflowService' | 'withDeadline' | 'options'>,
  timeoutMs: number,
): Promise<PlainError | null> {
  const { namespace } = client.options;
  try {
    await client.withDeadline(Date.now() + timeoutMs, () => client.workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    if (isGrpcServiceError(error) && untold.has(error.code)) return null;
    return (
      namespaceMissing(error) ?? {
        code: 'temporal_unreachable',
        message: `Temporal does not answer: ${reasonOf(error)}`,
        todo: 'Start it again, or see why it cannot be reached; until then no window opens.',
      }
    );
  }
}
