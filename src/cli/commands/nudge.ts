import { z } from 'zod';
import { recordAction } from '../../actions/record.ts';
import { requestDeliveriesOnce } from '../../runtime/request-deliveries.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { operatingTexts } from '../../texts/commands/results.ts';
import { type Nudged, nudgeNow } from '../../windows/nudge-now.ts';
import { actedBy } from '../acting.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { chosenFor, type OperateOptions, operateOptions, whoAndWhy } from '../operating.ts';
import { withApp } from '../with-app.ts';

const answer = z.strictObject({
  nudged: z.array(z.strictObject({ installation: z.number(), state: z.enum(['asked', 'paused', 'no schedule']) })),
});

export const command: Definition<OperateOptions> = {
  description:
    'Opens the next scheduled window immediately, in `vetledger run`. If a window is running, at most one waits for its end. A paused installation stays paused (exit code 1). `sync` instead runs a window in the command and waits for it. In the Temporal UI: Trigger of the Schedule.',
  options: operateOptions,
  examples: [
    ['vetledger nudge --installation 4711', 'one installation'],
    ['vetledger nudge --delivery', 'the deliveries of all installations'],
  ],
  answer,
  run: nudge,
};

/** Triggers the schedules, or starts the deliveries, without waiting for them. */
async function nudge(context: CommandContext, options: OperateOptions): Promise<number> {
  const stated = whoAndWhy(options, 'nudge');
  return withApp(context, { temporal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    const ids = await chosenFor(app, options);
    if (options.delivery) {
      await requestDeliveriesOnce(app, ids);
      for (const id of ids) {
        await app.db.transaction((trx) =>
          recordAction(trx, { installation: id, kind: 'nudge_delivery', by, input: {} }),
        );
      }
      await context.result({ nudged: ids.map((installation) => ({ installation, state: 'asked' })) }, () =>
        ids.map((id) => operatingTexts.deliveryNudged({ installation: id })).join('\n'),
      );
      return 0;
    }
    const nudged: Nudged[] = [];
    await withTemporalClient(app, async (client) => {
      for (const id of ids) {
        const found = await nudgeNow(app, client, id);
        nudged.push(found);
        if (found.state === 'asked')
          await app.db.transaction((trx) =>
            recordAction(trx, { installation: id, kind: 'nudge_windows', by, input: {} }),
          );
      }
    });
    await context.result({ nudged }, () => nudged.map(nudgedText).join('\n'));
    return nudged.every(({ state }) => state === 'asked') ? 0 : 1;
  });
}

function nudgedText({ installation, state }: Nudged): string {
  switch (state) {
    case 'asked':
      return operatingTexts.nudged({ installation });
    case 'paused':
      return operatingTexts.nudgedPaused({ installation });
    default:
      return operatingTexts.noSchedule({ installation });
  }
}
