import { z } from 'zod';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { changeWindows, isMeant, type OperateOptions, operateOptions, whoAndWhy, yesToAll } from '../operating.ts';
import { pause as pauseDelivery } from './deliver-pause.ts';

const answer = z.strictObject({
  paused: z.array(z.number()),
  /** Whether Temporal could be reached; of windows alone. */
  temporal: z.boolean().optional(),
});

export const command: Definition<OperateOptions> = {
  description:
    'Windows open no more until `resume`; one that is under way ends as usual, and the first one afterwards covers the pause. The pause is kept in PostgreSQL: it outlives restarts of everything, and holds without Temporal, too. `sync` opens a window all the same. Without --installation all are meant, after a question. `--delivery` is the same as `vetledger deliver pause`. In the Temporal UI: pause the Schedule `sync-window/<installation>-<database>`.',
  options: [...operateOptions, yesToAll],
  examples: [
    ['vetledger pause --installation 4711 --reason "the practice moves its server"', 'one installation'],
    ['vetledger pause --yes --reason "upgrade of the database" --by "M. Virtanen"', 'all of them'],
    ['vetledger pause --delivery --installation 4711 --reason "the year is being closed"', 'nothing is sent'],
  ],
  answer,
  run: pause,
};

/** Holds the windows of the schedule back, from the next one on. */
async function pause(context: CommandContext, options: OperateOptions): Promise<number> {
  const by = whoAndWhy(options, 'pause', { needsReason: true });
  if (options.delivery) {
    if (!(await isMeant(context, options, 'pause', 'Pause the delivery of all installations?'))) return 0;
    return pauseDelivery(context, { ...options, reason: by.reason });
  }
  if (!(await isMeant(context, options, 'pause', 'Pause the windows of all installations?'))) return 0;
  return changeWindows(context, options, by, true);
}
