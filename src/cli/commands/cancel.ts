import { z } from 'zod';
import { recordAction } from '../../actions/record.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { operatingTexts } from '../../texts/commands/results.ts';
import { type Cancelled, cancelRunning } from '../../windows/cancelling.ts';
import { codeWord } from '../../wording/words.ts';
import { actedBy } from '../acting.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { chosenFor, isConfirmed, type OperateOptions, operateOptions, whoAndWhy, yesToAll } from '../operating.ts';
import { withApp } from '../with-app.ts';

const answer = z.strictObject({
  cancelled: z.array(
    z.strictObject({
      installation: z.number(),
      kind: z.string(),
      workflow_id: z.string(),
      state: z.enum(['ended', 'ending', 'gone']),
    }),
  ),
});

export const command: Definition<OperateOptions> = {
  description:
    'Cancels the running work and waits up to 20 s for its end. Nothing is lost, because the next window covers a cancelled one. The schedule is not paused, so the next window opens at its usual time. In the Temporal UI: Cancel of the workflow.',
  options: [...operateOptions, yesToAll],
  examples: [
    ['vetledger cancel --installation 4711 --reason "it slows the practice down"', 'one installation'],
    ['vetledger cancel --delivery --installation 4711 --reason "wrong company"', 'its delivery'],
  ],
  answer,
  run: cancel,
};

/** How long `cancel` waits for the cancelled work to end. */
const cancelWaitMs = 20_000;

/** Cancels the running windows, or the running delivery. */
async function cancel(context: CommandContext, options: OperateOptions): Promise<number> {
  const stated = whoAndWhy(options, 'cancel', { needsReason: true });
  const question = options.delivery ? operatingTexts.cancelAllDeliveries : operatingTexts.cancelAllWindows;
  if (!(await isConfirmed(context, options, 'cancel', question))) return 0;
  return withApp(context, { temporal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    const ids = await chosenFor(app, options);
    const delivery = options.delivery === true;
    const cancelled = await withTemporalClient(app, async (client) => {
      const found = await Promise.all(
        ids.map((id) => cancelRunning(app, client, id, { delivery, waitMs: cancelWaitMs })),
      );
      return found.flat();
    });
    for (const id of ids) {
      const workflows = cancelled.filter(({ installation }) => installation === id).map((one) => one.workflow_id);
      if (workflows.length === 0) continue;
      const kind = delivery ? 'cancel_delivery' : 'cancel_windows';
      const action = { installation: id, kind, by, input: {}, result: { workflows } } as const;
      await app.db.transaction((trx) => recordAction(trx, action));
    }
    await context.result({ cancelled }, () =>
      cancelled.length === 0 ? operatingTexts.nothingRuns : cancelled.map(cancelledText).join('\n'),
    );
    return 0;
  });
}

function cancelledText({ installation, kind, workflow_id, state }: Cancelled): string {
  const what = operatingTexts.work({ kind: codeWord(kind), installation, workflow: workflow_id });
  const then = operatingTexts.afterwards[kind as keyof typeof operatingTexts.afterwards];
  switch (state) {
    case 'ended':
      return operatingTexts.cancelled({ what, then });
    case 'ending':
      return operatingTexts.cancelling({ what, then });
    default:
      return operatingTexts.notInTemporal({ what });
  }
}
