import { z } from 'zod';
import { recordAction } from '../../actions/record.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { type Cancelled, cancelRunning } from '../../windows/cancelling.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { chosenFor, isMeant, type OperateOptions, operateOptions, whoAndWhy, yesToAll } from '../operating.ts';
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
    'Each ends in good order: its row says that it was cancelled, its lease is free, and nothing is lost, because the next window covers it. It waits 20 s for that. Nothing is paused: with the schedule the next window opens in its time. In the Temporal UI: Cancel of the workflow.',
  options: [...operateOptions, yesToAll],
  examples: [
    ['vetledger cancel --installation 4711 --reason "it stands in the way of the practice"', 'one installation'],
    ['vetledger cancel --delivery --installation 4711 --reason "wrong company"', 'its delivery'],
  ],
  answer,
  run: cancel,
};

/** How long `cancel` waits for what it has cancelled to end. */
const cancelWaitMs = 20_000;

/** Ends the windows, or the delivery, that are under way. */
async function cancel(context: CommandContext, options: OperateOptions): Promise<number> {
  const by = whoAndWhy(options, 'cancel', { needsReason: true });
  const question = `Cancel ${options.delivery ? 'the delivery' : 'the windows and backfills'} of all installations?`;
  if (!(await isMeant(context, options, 'cancel', question))) return 0;
  return withApp(context, { temporal: true }, async (app) => {
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
      cancelled.length === 0 ? 'Nothing was under way.' : cancelled.map(cancelledText).join('\n'),
    );
    return 0;
  });
}

const afterwards: Record<string, string> = {
  window: 'the next window covers it',
  backfill: '`vetledger backfill` goes on where it was',
  replay: '`vetledger replay` asks it again',
  delivery:
    'what was being sent is looked up in the ERP first when delivery goes on, with the next window or `vetledger deliver`',
};

function cancelledText({ installation, kind, workflow_id, state }: Cancelled): string {
  const what = `The ${kind} of installation ${installation} (${workflow_id})`;
  switch (state) {
    case 'ended':
      return `${what} was cancelled and has ended; ${afterwards[kind]}.`;
    case 'ending':
      return `${what} was asked to end, and has not yet: it does once its worker (\`vetledger run\`) answers; ${afterwards[kind]}.`;
    default:
      return `${what} does not run in Temporal any more; the next window notes that it has ended.`;
  }
}
