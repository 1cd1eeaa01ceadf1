import { Connection } from '@temporalio/client';
import type { Config } from '../config/load-config.ts';
import type { TemporalSecurity } from '../domain/temporal-security.ts';
import { acquireTemporal } from '../embedded/index.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

const connectTimeout = '5 seconds';
const describeTimeoutMs = 5_000;

/** A Temporal server that answered, and its namespace. */
export interface TemporalFinding {
  address: string;
  namespace: string;
  /** Whether our search attributes are registered; if not, why. */
  searchAttributes: { registered: true } | { registered: false; reason: string };
}

/**
 * Connects to the configured Temporal server, or starts the embedded one for the duration of the check. Looks its
 * namespace up and registers our search attributes. Throws ServiceError, or the gRPC error of a server that does not
 * answer.
 */
export async function checkTemporal(
  { dataDir, temporal: { address, namespace, security } }: Pick<Config, 'dataDir' | 'temporal'>,
  { progress, env }: { progress: (line: string) => void; env: NodeJS.ProcessEnv },
): Promise<TemporalFinding> {
  const service = await acquireTemporal({
    dataDir,
    temporalAddress: address ?? undefined,
    temporalSecurity: security,
    progress,
    env,
  });
  try {
    return await findNamespace(service.address, namespace, security);
  } finally {
    await service.release();
  }
}

async function findNamespace(address: string, namespace: string, security: TemporalSecurity): Promise<TemporalFinding> {
  const connection = await Connection.connect({ ...security, address, connectTimeout });
  try {
    await connection.withDeadline(Date.now() + describeTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    let reason = serviceErrors.notRegistered;
    const registered = await ensureSearchAttributes(connection, namespace, (line) => {
      reason = line;
    });
    return { address, namespace, searchAttributes: registered ? { registered } : { registered, reason } };
  } finally {
    await connection.close();
  }
}
