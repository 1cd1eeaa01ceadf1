import type { Client } from '@temporalio/client';
import { errorText } from '../db/database-errors.ts';
import { within } from '../domain/concurrency.ts';
import { causeOfRefusal } from '../domain/refusals.ts';
import { reasonOf } from '../embedded/service-error.ts';
import type { App } from '../runtime/app.ts';
import { tryWriting } from '../runtime/presence.ts';
import { isGrpcServiceError, namespaceMissing } from '../runtime/temporal-errors.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Tests whether a new connection to PostgreSQL can write, since the pool may be busy. Null if it can. */
export async function probePostgres({ probeDb }: Pick<App, 'probeDb'>, timeoutMs: number): Promise<PlainError | null> {
  try {
    await within(timeoutMs, tryWriting(probeDb));
    return null;
  } catch (error) {
    return causeOfRefusal(error) ?? serviceErrors.postgresDown({ reason: errorText(error) });
  }
}

/** gRPC codes of a server that answers but hides its namespaces: PERMISSION_DENIED, UNIMPLEMENTED. */
const namespacesHidden: ReadonlySet<unknown> = new Set([7, 12]);

/** Tests whether the Temporal server answers and has our namespace. Null if it does. */
export async function probeTemporal(
  client: Pick<Client, 'workflowService' | 'withDeadline' | 'options'>,
  timeoutMs: number,
): Promise<PlainError | null> {
  const { namespace } = client.options;
  try {
    await client.withDeadline(Date.now() + timeoutMs, () => client.workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    if (isGrpcServiceError(error) && namespacesHidden.has(error.code)) return null;
    return namespaceMissing(error) ?? serviceErrors.temporalDown({ reason: reasonOf(error) });
  }
}
