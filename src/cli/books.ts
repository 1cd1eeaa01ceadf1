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
import { commandErrors } from '../texts/errors/commands.ts';
import { timeIn } from '../wording/words.ts';
import { instant } from './render/text.ts';

/**
 * The named installation, or all, for a command that shows or changes the books. Logs a warning for a mapping file that is not in
 * force. Throws ConfigError if the configuration of an installation contradicts its books.
 */
export async function chosenBooks(app: Books, id: number | undefined): Promise<InstallationConfig[]> {
  return (await mappingsOfBooks(app, id)).map(({ installation }) => installation);
}

/** Like `chosenBooks`, but with the mapping that the next start puts in force. */
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

/** The chosen installations that have an ERP. Throws ConfigError if none has. */
export async function chosenDeliveries(app: Books, id: number | undefined): Promise<InstallationConfig[]> {
  const chosen = (await chosenBooks(app, id)).filter(({ erp }) => isDelivered(erp));
  if (chosen.length > 0) return chosen;
  throw nothingDelivered(id);
}

/** Throws ConfigError if this database is a copy that must not write into the original's company of the ERP. */
export async function refuseBarred({ db }: Pick<App, 'db'>, chosen: readonly InstallationConfig[]): Promise<void> {
  for (const { id, erp } of chosen) {
    const key = companyKeyOf(erp);
    if (key === null || !(await isBarred(db, { kind: 'company', key }))) continue;
    throw new ConfigError(barredError(id));
  }
}

export function nothingDelivered(id: number | undefined): ConfigError {
  return new ConfigError(commandErrors.nothingDelivered({ installation: id ?? null }));
}

/** Adds the name of the installation to each item, if the configuration has one. */
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

/** Formats a time of an installation as its local time. */
export type LocalTimes = (installation: InstallationId, time: Date | string | null) => string;

export function localTimes({ installations }: Pick<Config, 'installations'>): LocalTimes {
  const zones = new Map(installations.map(({ id, timezone }) => [id, timeIn(timezone)]));
  return (id, time) => (zones.get(id) ?? instant)(time);
}
