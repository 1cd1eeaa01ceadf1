import { ConfigError } from '../domain/errors.ts';
import type { ErpLogin, LoginPorts } from '../erp/login/server.ts';
import { loginOf } from '../erp/targets/logins.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { loginErrors } from '../texts/errors/erp-login.ts';
import { chosenDeliveries, refuseBarred } from './books.ts';

/** The login of the installation that a command names, or of the only one. Throws ConfigError if its ERP needs none. */
export async function chosenLogin(
  app: App,
  named: number | undefined,
): Promise<{ installation: number; login: ErpLogin; ports: LoginPorts }> {
  const chosen = await chosenDeliveries(app, named);
  const { db, log } = app;
  const ports = { db, keys: app.config.secretKeys, clock: systemClock, log };
  // A copy that renews or ends a login would end it for the original.
  await refuseBarred(app, chosen);
  const found = chosen.flatMap(({ id, erp }) => {
    const login = loginOf(erp);
    return login === null ? [] : [{ installation: id, login, ports }];
  });
  const [first, ...others] = found;
  if (first === undefined) throw new ConfigError(loginErrors.notUsed({ installation: chosen[0]?.id ?? 0 }));
  if (others.length > 0) throw new ConfigError(loginErrors.several({ n: found.length }));
  return first;
}
