import { loginOf } from '../erp/targets/logins.ts';
import type { App } from '../runtime/app.ts';

const timeoutMs = 60_000;
/** A high number is a low priority: deliveries come first. */
const priority = 9;

/** Sends one reading request with each login of a person, since an unused login ends after some weeks. */
export async function useLogins(
  { config, delivery, log }: Pick<App, 'config' | 'delivery' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for (const installation of config.installations) {
    if (signal.aborted) return;
    if (loginOf(installation.erp) === null) continue;
    const request = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), priority };
    try {
      await delivery.target(installation).periods(request);
    } catch (err) {
      log.warn(
        { err, installation: installation.id },
        'the login to the ERP could not be used; it is tried again tomorrow',
      );
    }
  }
}
