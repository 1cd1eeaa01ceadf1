import { requireIdentity } from '../bookkeeping/identity.ts';
import { isDelivered } from '../config/erp.ts';
import type { Config, InstallationConfig } from '../config/load.ts';
import { ConfigError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { barredError, isBarred } from '../ledger/copies.ts';
import { type App, chosenInstallations } from '../runtime/app.ts';
import { otherMappings } from '../runtime/presence.ts';
import type { InstallationId } from '../terms.ts';
import type { CommandContext } from './context.ts';

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

/** Says which processes at work post by another mapping than the one of this command. */
export async function noteOtherMappings(
  context: Pick<CommandContext, 'note'>,
  { db }: Pick<App, 'db'>,
  chosen: readonly InstallationConfig[],
): Promise<void> {
  for (const { installation, process } of await otherMappings(db, chosen)) {
    context.note(
      `warning: ${process} works on installation ${installation} by another mapping than this command. It reads its mapping file again by itself once a newer one is in force; see that its file is this one.`,
    );
  }
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

/** Throws ConfigError where one of them is barred: this database is a copy, and its company the original's. */
export async function refuseBarred({ db }: Pick<App, 'db'>, chosen: readonly InstallationConfig[]): Promise<void> {
  for (const { id, erp } of chosen) {
    const key = companyKeyOf(erp);
    if (key === null || !(await isBarred(db, { kind: 'company', key }))) continue;
    const { code, message, todo } = barredError(id);
    throw new ConfigError(code, message, todo);
  }
}

export function nothingDelivered(id: number | undefined): ConfigError {
  return new ConfigError(
    'nothing_delivered',
    id === undefined ? 'No installation is delivered to an ERP.' : `Installation ${id} is not delivered to an ERP.`,
    'Set `erp` of the installation (docs/CLI.md, "Configuration"); with `erp: {kind: ledger}` the books stay in PostgreSQL.',
  );
}

/** What commands print of an installation, with the name that people call it by, where the configuration has one. */
export function named<Item extends { installation: InstallationId }>(
  { installations }: Config,
  items: readonly Item[],
): (Item & { name?: string })[] {
  const names = new Map(installations.map(({ id, name }) => [id, name]));
  return items.map((item) => {
    const name = names.get(item.installation);
    return name == null ? item : { ...item, name };
  });
}
