import { requireIdentity } from '../bookkeeping/identity.ts';
import type { InstallationConfig } from '../config/load.ts';
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
