import { access, constants, mkdir } from 'node:fs/promises';
import { isApiTarget, isDelivered } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { codeOf } from '../../domain/errors.ts';
import { ErpError } from '../../erp/port.ts';
import type { App } from '../../runtime/app.ts';
import { type Check, failure, passed } from './check.ts';

const name = 'ERP';
const timeoutMs = 60_000;
/** A high number is a low priority: deliveries come first. */
const priority = 9;
const dayMs = 86_400_000;
/** Days before the expiry of a key at which a warning begins. */
const warningDays = 14;

/** Checks the sign-in to the ERP, or that the folder of its files is writable. `vetledger erp check` checks the rest. */
export async function checkErp(
  app: Pick<App, 'delivery' | 'clock'>,
  installation: InstallationConfig,
  signal: AbortSignal,
): Promise<Check[]> {
  const { id, erp } = installation;
  if (!isDelivered(erp)) return [];
  try {
    if (!isApiTarget(erp)) return [await checkFolder(id, erp.folder)];
    const target = app.delivery.target(installation);
    const { periods } = await target.periods({
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      priority,
    });
    const open = periods?.filter(({ isOpen }) => isOpen).length;
    const said = open === undefined ? '' : `, ${open} open periods`;
    const user = erp.user === '' ? 'the user of its API key' : erp.user;
    return [
      passed(id, name, `${erp.kind} at ${erp.url} lets ${user} in${said}; \`vetledger erp check\` tries the rest`),
      ...(await checkSecrets(app, installation, signal)),
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ErpError)) return [failure(id, name, error)];
    return [refused(id, error)];
  }
}

/** Checks for keys that expire, because deliveries stop on that day. */
async function checkSecrets(
  { delivery, clock }: Pick<App, 'delivery' | 'clock'>,
  installation: InstallationConfig,
  signal: AbortSignal,
): Promise<Check[]> {
  const target = delivery.target(installation);
  const request = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), priority };
  const ending = (await target.expiries?.(request)) ?? [];
  return ending.map(({ name: key, at }) => expiryOf(installation.id, key, at, clock()));
}

/** The check of a key that expires at `at`. */
export function expiryOf(installation: number, key: string, at: Date, now: Date): Check {
  const day = at.toISOString().slice(0, 10);
  const days = Math.floor((at.getTime() - now.getTime()) / dayMs);
  const ends = at <= now ? `ended on ${day}` : `ends on ${day}, in ${days} days`;
  const message = `the API user’s key ${JSON.stringify(key)} ${ends}`;
  if (days >= warningDays) return passed(installation, 'ERP key', message);
  const todo =
    'If it is the one in use, make a new one in the ERP and put it into the secret that the configuration names.';
  return { installation, check: 'ERP key', status: 'warn', message, todo };
}

async function checkFolder(installation: number, folder: string): Promise<Check> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return passed(installation, name, `files are written to ${folder}`);
  } catch (error) {
    return {
      installation,
      check: name,
      status: 'fail',
      message: `the folder ${folder} cannot be written (${codeOf(error) ?? 'unknown reason'})`,
      todo: 'Correct erp.folder, or the rights of the folder.',
    };
  }
}

function refused(installation: number, { means, message }: ErpError): Check {
  const isAuth = means === 'auth';
  return {
    installation,
    check: name,
    status: 'fail',
    message,
    todo: isAuth
      ? 'Check erp.user and its password (or erp.api_key), and its rights.'
      : 'Check that the ERP is up and that erp.url, erp.database and erp.company are right.',
    unreachable: true,
  };
}
