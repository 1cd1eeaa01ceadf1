import { requireIdentity } from '../bookkeeping/identity.ts';
import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load.ts';
import { ConfigError } from '../domain/errors.ts';
import { type App, chosenInstallations } from '../runtime/app.ts';

/**
 * The installations of a command that tells or changes amounts of the books: the named one, or all. Throws ConfigError where
 * the configuration of one is not that of its books.
 */
export async function chosenBooks(
  app: Pick<App, 'config' | 'db'>,
  id: number | undefined,
): Promise<InstallationConfig[]> {
  const chosen = chosenInstallations(app.config, id);
  for (const installation of chosen) await requireIdentity(app.db, installation);
  return chosen;
}

/** Those of them that have an ERP. Throws ConfigError where none has. */
export async function chosenDeliveries(
  app: Pick<App, 'config' | 'db'>,
  id: number | undefined,
): Promise<InstallationConfig[]> {
  const chosen = (await chosenBooks(app, id)).filter(({ erp }) => isDelivered(erp));
  if (chosen.length > 0) return chosen;
  throw nothingDelivered(id);
}

export function nothingDelivered(id: number | undefined): ConfigError {
  return new ConfigError(
    'nothing_delivered',
    id === undefined ? 'No installation is delivered to an ERP.' : `Installation ${id} is not delivered to an ERP.`,
    'Set `erp` of the installation (docs/CLI.md, "Configuration"); with `erp: {kind: ledger}` the books stay in PostgreSQL.',
  );
}
