import { loadDialect } from '../../src/config/dialect.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import type { PullContext } from '../../src/sync/context.ts';

/**
 * The context with which a window of an installation in Helsinki pulls. The test gives parts of it; without a client, a
 * request fails.
 */
export function pullContextOf(given: Pick<PullContext, 'db'> & Partial<PullContext>): PullContext {
  return {
    installation: 1,
    timezone: 'Europe/Helsinki',
    dialect: given.dialect ?? loadDialect(),
    keepRaw: 'mapped',
    transact: transactionsOf(given.db),
    client: { list: () => Promise.reject(new Error('a question that no test expects')) },
    owner: 'window',
    run: 'run',
    priority: 1,
    overlapMs: 600_000,
    findOwnEchoes: async () => new Set(),
    onProgress: () => undefined,
    ...given,
  };
}
