import { requireIdentity } from '../bookkeeping/identity.ts';
import {
  fileRemark,
  type MappingInForce,
  mappingsInForce,
  withMappingOfFile,
} from '../bookkeeping/mapping-versions.ts';
import { isDelivered } from '../config/erp.ts';
import type { Config, InstallationConfig } from '../config/load-config.ts';
import { ConfigError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { barredError, isBarred } from '../ledger/adoption.ts';
import { type App, chosenInstallations } from '../runtime/app.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The installations of a command that tells or changes amounts of the books: the named one, or all. Says where a mapping file is
 * not in force. Throws ConfigError where the configuration of one is not that of its books.
 */
export async function chosenBooks(app: Books, id: number | undefined): Promise<InstallationConfig[]> {
  return (await mappingsOfBooks(app, id)).map(({ installation }) => installation);
}

/** As `chosenBooks`, each with the mapping that the next start puts in force: the file's, where that is followed. */
export async function chosenBooksAsNext(app: Books, id: number | undefined): Promise<InstallationConfig[]> {
  return (await mappingsOfBooks(app, id)).map(({ installation, file }) =>
    file === 'next' ? withMappingOfFile(installation) : installation,
  );
}

type Books = Pick<App, 'config' | 'db' | 'log'>;

async function mappingsOfBooks({ config, db, log }: Books, id: number | undefined): Promise<MappingInForce[]> {
  const chosen = chosenInstallations(config, id);
  for (const installation of chosen) await requireIdentity(db, installation);
  const found = await mappingsInForce(db, chosen, { followFile: config.followMappingFile });
  for (const one of found) {
    const remark = fileRemark(one);
    if (remark !== null) log.warn({ installation: one.installation.id, code: 'mapping_not_in_force' }, remark);
  }
  return found;
}

/** Those of them that have an ERP. Throws ConfigError where none has. */
export async function chosenDeliveries(app: Books, id: number | undefined): Promise<InstallationConfig[]> {
  const chosen = (await chosenBooks(app, id)).filter(({ erp }) => isDelivered(erp));
  if (chosen.length > 0) return chosen;
  throw nothingDelivered(id);
}

/** Throws ConfigError where one of them is barred: this database is a copy, and its company the original's. */
export async function refuseBarred({ db }: Pick<App, 'db'>, chosen: readonly InstallationConfig[]): Promise<void> {
  for (const { id, erp } of chosen) {
    const key = companyKeyOf(erp);
    if (key === null || !(await isBarred(db, { kind: 'company', key }))) continue;
    throw new ConfigError(barredError(id));
  }
}

export function nothingDelivered(id: number | undefined): ConfigError {
  return new ConfigError({
    code: 'nothing_delivered',
    message:
      id === undefined ? 'No installation is delivered to an ERP.' : `Installation ${id} is not delivered to an ERP.`,
    todo: 'Set `erp` of the installation (docs/reference/CLI.md, "Configuration"); with `erp: {kind: ledger}` the books stay in PostgreSQL.',
  });
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
