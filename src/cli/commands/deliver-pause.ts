import { Option } from 'commander';
import { z } from 'zod';
import { pauseDelivery } from '../../erp/outbox/state.ts';
import { operatingTexts } from '../../texts/commands/results.ts';
import { actedBy, statedBy } from '../acting.ts';
import { chosenDeliveries } from '../books.ts';
import { by, type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  reason: string;
  by?: string;
}

const answer = z.strictObject({ paused: z.array(z.number()) });

export const command: Definition<Options> = {
  options: [installation, new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(), by],
  examples: [
    ['vetledger deliver pause --reason "the accountant closes the year"', 'nothing is sent until `deliver resume`'],
  ],
  answer,
  run: pause,
};

/** Pauses the deliveries from their next batch on. */
export function pause(context: CommandContext, options: Options): Promise<number> {
  const stated = statedBy(options, 'deliver pause');
  return withApp(context, { temporal: false }, async (app) => {
    const by = await actedBy(app.db, stated);
    const chosen = await chosenDeliveries(app, options.installation);
    const paused: number[] = [];
    for (const { id } of chosen) if (await app.db.transaction((trx) => pauseDelivery(trx, id, by))) paused.push(id);
    await context.result({ paused }, () =>
      chosen
        .map(({ id }) =>
          paused.includes(id)
            ? operatingTexts.deliveryPaused({ installation: id })
            : operatingTexts.deliveryAlreadyPaused({ installation: id }),
        )
        .join('\n'),
    );
    return 0;
  });
}
