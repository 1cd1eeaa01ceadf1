import { changedIdentity } from '../../bookkeeping/identity.ts';
import { deliveryStatus } from '../../queries/deliveries.ts';
import { type InstallationStatus, installationStatus } from '../../queries/status.ts';
import type { CommandContext } from '../context.ts';
import { statusText } from '../render/status.ts';
import { withApp } from '../with-app.ts';

/** Lag, rate budgets, states and problems of every installation. */
export function status(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config, clock, budget }) => {
    const installations: InstallationStatus[] = [];
    for (const installation of config.installations) {
      const { id, scrubDays } = installation;
      const { everySeconds } = config.schedule;
      const seals = config.sealKey !== null;
      const ports = { db, budget: budget(id), now: clock(), everySeconds, seals, scrubDays };
      const delivery = await deliveryStatus(db, installation);
      const status = await installationStatus(ports, id, delivery);
      const changed = await changedIdentity(db, installation);
      installations.push(changed ? { ...status, next_step: `${changed.message} ${changed.todo}` } : status);
    }
    await context.result({ installations }, () => installations.map(statusText).join('\n\n'));
    return 0;
  });
}
