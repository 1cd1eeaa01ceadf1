import { z } from 'zod';
import { operatingTexts } from '../../texts/commands/results.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { changeWindows, isConfirmed, type OperateOptions, operateOptions, whoAndWhy, yesToAll } from '../operating.ts';
import { pause as pauseDelivery } from './deliver-pause.ts';

const answer = z.strictObject({
  paused: z.array(z.number()),
  /** Whether Temporal could be reached. Absent for deliveries. */
  temporal: z.boolean().optional(),
});

export const command: Definition<OperateOptions> = {
  description:
    'No scheduled window opens until `resume`. A running window ends normally, and the first window after the pause covers it. The pause is stored in PostgreSQL, so it survives restarts and works without Temporal. `sync` still opens a window. Without --installation, it applies to all installations, after confirmation. `--delivery` is the same as `vetledger deliver pause`. In the Temporal UI: pause the Schedule `sync-window/<installation>-<database>`.',
  options: [...operateOptions, yesToAll],
  examples: [
    ['vetledger pause --installation 4711 --reason "the practice moves its server"', 'one installation'],
    ['vetledger pause --yes --reason "upgrade of the database" --by "M. Virtanen"', 'all of them'],
    ['vetledger pause --delivery --installation 4711 --reason "the year is being closed"', 'nothing is sent'],
  ],
  answer,
  run: pause,
};

async function pause(context: CommandContext, options: OperateOptions): Promise<number> {
  const stated = whoAndWhy(options, 'pause', { needsReason: true });
  if (options.delivery) {
    if (!(await isConfirmed(context, options, 'pause', operatingTexts.pauseAllDeliveries))) return 0;
    return pauseDelivery(context, { ...options, reason: stated.reason });
  }
  if (!(await isConfirmed(context, options, 'pause', operatingTexts.pauseAllWindows))) return 0;
  return changeWindows(context, options, stated, true);
}
