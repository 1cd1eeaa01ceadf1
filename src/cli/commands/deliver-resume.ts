import { z } from 'zod';
import { resumeDelivery } from '../../erp/outbox/state.ts';
import { requestDeliveriesOnce } from '../../runtime/request-deliveries.ts';
import { operatingTexts } from '../../texts/commands/results.ts';
import { actedBy, statedBy } from '../acting.ts';
import { chosenDeliveries } from '../books.ts';
import { by, type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  by?: string;
}

const answer = z.strictObject({ resumed: z.array(z.number()) });

export const command: Definition<Options> = {
  options: [installation, by],
  examples: [['vetledger deliver resume', 'every installation']],
  answer,
  run: resume,
};

export function resume(context: CommandContext, options: Options): Promise<number> {
  const stated = statedBy({ by: options.by, reason: 'deliver resume' }, 'deliver resume');
  return withApp(context, { temporal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    const chosen = await chosenDeliveries(app, options.installation);
    const resumed: number[] = [];
    for (const { id } of chosen) if (await app.db.transaction((trx) => resumeDelivery(trx, id, by))) resumed.push(id);
    await requestDeliveriesOnce(app, resumed);
    await context.result({ resumed }, () =>
      chosen
        .map(({ id }) =>
          resumed.includes(id)
            ? operatingTexts.deliveryResumed({ installation: id })
            : operatingTexts.deliveryNotPaused({ installation: id }),
        )
        .join('\n'),
    );
    return 0;
  });
}
