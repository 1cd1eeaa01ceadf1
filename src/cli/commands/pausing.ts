import { recordAction } from '../../actions/record.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import { requestDeliveriesOnce } from '../../runtime/deliveries.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { type Cancelled, cancelRunning } from '../../windows/cancelling.ts';
import { type Nudged, nudgeNow } from '../../windows/nudge-now.ts';
import { pauseOrResume } from '../../windows/pausing.ts';
import { actedBy } from '../acting.ts';
import { chosenDeliveries } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';
import { pause as pauseDelivery } from './deliver-pause.ts';
import { resume as resumeDelivery } from './deliver-resume.ts';

export interface OperateOptions {
  installation?: number;
  delivery?: true;
  reason?: string;
  by?: string;
  yes?: true;
}

/** How long `cancel` waits for what it has cancelled to end. */
const cancelWaitMs = 20_000;

/** Holds the windows of the schedule back, from the next one on. */
export async function pause(context: CommandContext, options: OperateOptions): Promise<number> {
  const by = whoAndWhy(options, 'pause', { needsReason: true });
  if (options.delivery) {
    if (!(await isMeant(context, options, 'pause', 'Pause the delivery of all installations?'))) return 0;
    return pauseDelivery(context, { ...options, reason: by.reason });
  }
  if (!(await isMeant(context, options, 'pause', 'Pause the windows of all installations?'))) return 0;
  return change(context, options, by, true);
}

/** Lets paused windows, or deliveries, go on. */
export async function resume(context: CommandContext, options: OperateOptions): Promise<number> {
  const by = whoAndWhy(options, 'resume');
  if (options.delivery) return resumeDelivery(context, options);
  return change(context, options, by, false);
}

function change(
  context: CommandContext,
  options: OperateOptions,
  by: { actedBy: string; reason: string },
  isPaused: boolean,
): Promise<number> {
  return withApp(context, { temporal: 'if reachable' }, async (app) => {
    const chosen = chosenInstallations(app.config, options.installation).map(({ id }) => id);
    const changed: number[] = [];
    const tell = async (client: Parameters<typeof pauseOrResume>[1]) => {
      for (const id of chosen) {
        if (await pauseOrResume(app, client, id, isPaused, by)) changed.push(id);
      }
    };
    if (app.temporal) await withTemporalClient(app, tell);
    else await tell(null);
    const done = isPaused ? 'paused' : 'resumed';
    await context.result({ [done]: changed, temporal: app.temporal !== null }, () =>
      chosen.map((id) => changeText(id, isPaused, changed.includes(id))).join('\n'),
    );
    return 0;
  });
}

function changeText(id: number, isPaused: boolean, hasChanged: boolean): string {
  if (!hasChanged)
    return isPaused
      ? `The windows of installation ${id} were paused already.`
      : `The windows of installation ${id} were not paused.`;
  return isPaused
    ? `The windows of installation ${id} are paused; one that is under way ends as usual. \`vetledger sync\` opens one all the same, \`vetledger resume --installation ${id}\` lets them go on.`
    : `The windows of installation ${id} go on with the schedule of \`vetledger run\`; the next one covers the pause.`;
}

/** Ends the windows, or the delivery, that are under way. */
export async function cancel(context: CommandContext, options: OperateOptions): Promise<number> {
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

/** Opens windows now through the schedules, or begins the deliveries, without waiting for them. */
export async function nudge(context: CommandContext, options: OperateOptions): Promise<number> {
  const by = whoAndWhy(options, 'nudge');
  return withApp(context, { temporal: true }, async (app) => {
    const ids = await chosenFor(app, options);
    if (options.delivery) {
      await requestDeliveriesOnce(app, ids);
      for (const id of ids) {
        await app.db.transaction((trx) =>
          recordAction(trx, { installation: id, kind: 'nudge_delivery', by, input: {} }),
        );
      }
      await context.result({ nudged: ids.map((installation) => ({ installation, state: 'asked' })) }, () =>
        ids.map((id) => `The delivery of installation ${id} begins as soon as \`vetledger run\` is up.`).join('\n'),
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
      return `A window of installation ${installation} opens now, or right after the one that is under way.`;
    case 'paused':
      return `No window of installation ${installation} opens: they are paused (\`vetledger status\` says by whom). \`vetledger sync --installation ${installation}\` opens one all the same.`;
    default:
      return `Installation ${installation} has no schedule yet: start \`vetledger run\`, or open a window with \`vetledger sync --installation ${installation}\`.`;
  }
}

async function chosenFor(app: App, { installation, delivery }: OperateOptions): Promise<number[]> {
  const chosen = delivery ? await chosenDeliveries(app, installation) : chosenInstallations(app.config, installation);
  return chosen.map(({ id }) => id);
}

/** Who does it and why; a command that holds others back needs a reason. */
function whoAndWhy(options: OperateOptions, command: string, { needsReason = false } = {}) {
  if (needsReason && options.reason === undefined) {
    throw usageError('--reason is missing; say why.', command);
  }
  const reason = options.reason ?? `vetledger ${command}`;
  return actedBy({ reason, ...(options.by === undefined ? {} : { by: options.by }) }, command);
}

/** Asks before a command that names no installation concerns them all; false where the answer was no. */
async function isMeant(
  context: CommandContext,
  { installation, yes }: OperateOptions,
  command: string,
  question: string,
): Promise<boolean> {
  if (installation !== undefined || yes) return true;
  const answer = await context.confirm(question);
  if (answer === null) {
    throw usageError('Without --installation it concerns all of them: name one, or give --yes.', command);
  }
  if (!answer) await context.result({ [`${command}d`]: [] }, () => 'Nothing was changed.');
  return answer;
}
