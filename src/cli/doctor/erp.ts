import { access, constants, mkdir } from 'node:fs/promises';
import { isApiTarget, isDelivered } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { codeOf } from '../../domain/errors.ts';
import { loginTodo } from '../../erp/login/login-problems.ts';
import { ErpError, type Expiry } from '../../erp/port.ts';
import type { App } from '../../runtime/app.ts';
import { checkNames, doctorTexts } from '../../texts/commands/doctor.ts';
import { type Check, failure, passed } from './check.ts';

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
    const counted = open === undefined ? '' : doctorTexts.openPeriods({ open });
    const user = erp.user === '' ? doctorTexts.userOfKey : erp.user;
    return [
      passed(id, checkNames.erp, doctorTexts.erpAccepted({ kind: erp.kind, url: erp.url, user, periods: counted })),
      ...(await checkSecrets(app, installation, signal)),
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ErpError)) return [failure(id, checkNames.erp, error)];
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
  return ending.map((expiry) => expiryOf(installation.id, expiry, clock()));
}

/** The check of a key that expires, or of a login that ends unless it is used. */
export function expiryOf(installation: number, { name, at, isLogin = false }: Expiry, now: Date): Check {
  const day = at.toISOString().slice(0, 10);
  const days = Math.floor((at.getTime() - now.getTime()) / dayMs);
  const key = JSON.stringify(name);
  const isOver = at <= now;
  const check = isLogin ? checkNames.erpLogin : checkNames.erpKey;
  const message = isLogin
    ? doctorTexts.loginEnds({ login: key, day, days })
    : isOver
      ? doctorTexts.keyExpired({ key, day })
      : doctorTexts.keyExpires({ key, day, days });
  if (days >= warningDays) return passed(installation, check, message);
  const todo = isLogin ? doctorTexts.renewLogin : doctorTexts.renewKey;
  return { installation, check, status: 'warn', message, todo };
}

async function checkFolder(installation: number, folder: string): Promise<Check> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return passed(installation, checkNames.erp, doctorTexts.folder({ folder }));
  } catch (error) {
    return {
      installation,
      check: checkNames.erp,
      status: 'fail',
      ...doctorTexts.folderUnwritable({ folder, reason: codeOf(error) ?? doctorTexts.unknownReason }),
    };
  }
}

function refused(installation: number, error: ErpError): Check {
  const { means, message } = error;
  const isAuth = means === 'auth';
  return {
    installation,
    check: checkNames.erp,
    status: 'fail',
    message,
    todo: loginTodo(error) ?? (isAuth ? doctorTexts.checkSignIn : doctorTexts.checkAddress),
    unreachable: true,
  };
}
