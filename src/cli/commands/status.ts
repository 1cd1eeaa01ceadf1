import { type InstallationStatus, installationStatus } from '../../queries/status.ts';
import type { CommandContext } from '../context.ts';
import { statusText } from '../render/status.ts';
import { withApp } from '../with-app.ts';

/** Lag, rate budgets, states and problems of every installation. */
export function status(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config, clock, budget }) => {
    const installations: InstallationStatus[] = [];
    for (const { id } of config.installations) {
      const ports = { db, budget: budget(id), now: clock(), everySeconds: config.schedule.everySeconds };
      installations.push(await installationStatus(ports, id));
    }
    await context.result({ installations }, () => installations.map(statusText).join('\n\n'));
    return 0;
  });
}
