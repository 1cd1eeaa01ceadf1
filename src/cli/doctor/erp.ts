import { access, constants, mkdir } from 'node:fs/promises';
import { isDelivered } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load.ts';
import { codeOf } from '../../domain/errors.ts';
import { ErpError } from '../../erp/port.ts';
import type { App } from '../../runtime/app.ts';
import { type Check, failure, passed } from './check.ts';

const name = 'ERP';
const timeoutMs = 60_000;
/** The API user's own requests come first. */
const priority = 9;

/** Whether the ERP of an installation lets us in, or the folder of its files can be written; `vetledger erp check` tries the rest. */
export async function checkErp(
  app: Pick<App, 'delivery'>,
  installation: InstallationConfig,
  signal: AbortSignal,
): Promise<Check[]> {
  const { id, erp } = installation;
  if (!isDelivered(erp)) return [];
  try {
    if (erp.kind !== 'tryton') return [await checkFolder(id, erp.folder)];
    const target = app.delivery.target(installation);
    const { periods } = await target.periods({
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      priority,
    });
    const open = periods?.filter(({ isOpen }) => isOpen).length;
    const said = open === undefined ? '' : `, ${open} open periods`;
    return [
      passed(id, name, `${erp.kind} at ${erp.url} lets ${erp.user} in${said}; \`vetledger erp check\` tries the rest`),
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ErpError)) return [failure(id, name, error)];
    return [refused(id, error)];
  }
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
      ? 'Check erp.user, its password and its rights.'
      : 'Check that the ERP is up and that erp.url, erp.database and erp.company are right.',
    unreachable: true,
  };
}
