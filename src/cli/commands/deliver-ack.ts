import { Option } from 'commander';
import { z } from 'zod';
import { isFileTarget } from '../../config/erp.ts';
import { ackBatches } from '../../erp/targets/files/ack.ts';
import { parseBatchCode } from '../../erp/targets/files/format.ts';
import { deliverTexts } from '../../texts/commands/delivery.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { count } from '../../wording/words.ts';
import { actedBy, statedBy } from '../acting.ts';
import { by, type Definition } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  reason?: string;
  by?: string;
}

const answer = z.strictObject({
  acknowledged: z.array(z.strictObject({ batch: z.string(), file: z.string(), units: z.number() })),
});

export const command: Definition<Options> = {
  description:
    'For delivery as files: records that the accountants have imported a batch. Its entries are then acknowledged. A batch has the name of its file, such as 4711-000001.',
  options: [new Option('--reason <text>', 'what the accountants reported; it is recorded'), by],
  examples: [
    ['vetledger deliver ack 4711-000001 4711-000002 --by "Bo, the adviser"', 'the first two batches are imported'],
  ],
  answer,
  run: ack,
};

/** Records that batches were imported. If one of them is wrong, none is recorded. */
function ack(context: CommandContext, options: Options, batches: readonly string[]): Promise<number> {
  const named = batches.map((batch) => {
    const found = parseBatchCode(batch);
    if (found === null) throw usageError(usageTexts.noBatch({ text: batch }), 'deliver ack');
    return found;
  });
  const reason = options.reason ?? `deliver ack ${batches.join(' ')}`;
  const stated = statedBy({ by: options.by, reason }, 'deliver ack');
  return withApp(context, { temporal: false }, async (app) => {
    const by = await actedBy(app.db, stated);
    const folderOf = (installation: number) => {
      const erp = app.config.installations.find(({ id }) => id === installation)?.erp;
      return erp !== undefined && isFileTarget(erp) ? erp.folder : null;
    };
    const located = named.map((batch) => ({ ...batch, folder: folderOf(batch.installation) }));
    const acknowledged = await ackBatches(app.db, located, by);
    await context.result({ acknowledged }, () =>
      acknowledged
        .map(({ batch, file, units }) =>
          units === 0
            ? deliverTexts.wasAcknowledged({ batch })
            : deliverTexts.acknowledged({ batch, file, entries: count(units, 'entry') }),
        )
        .join('\n'),
    );
    return 0;
  });
}
