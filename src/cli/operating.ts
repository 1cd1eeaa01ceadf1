import { Option } from 'commander';
import { type App, chosenInstallations } from '../runtime/app.ts';
import { withTemporalClient } from '../runtime/temporal-client.ts';
import { pauseOrResume } from '../windows/pausing.ts';
import { actedBy } from './acting.ts';
import { chosenDeliveries } from './books.ts';
import { by, installation } from './command.ts';
import { type CommandContext, usageError } from './context.ts';
import { withApp } from './with-app.ts';

/** Options of `pause`, `resume`, `cancel` and `nudge`. */
export interface OperateOptions {
  installation?: number;
  delivery?: true;
  reason?: string;
  by?: string;
  yes?: true;
}

export const operateOptions = [
  installation,
  new Option('--delivery', 'the delivery to the ERP instead of the windows'),
  new Option('--reason <text>', 'why; it is recorded, and shown by `status` and in Temporal'),
  by,
];
export const yesToAll = new Option('--yes', 'do not ask where all installations are meant');

/** Holds the windows of the schedule back, or lets them go on. */
export function changeWindows(
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

/** The installations that are meant; of those with --delivery, the ones that have an ERP. */
export async function chosenFor(app: App, { installation, delivery }: OperateOptions): Promise<number[]> {
  const chosen = delivery ? await chosenDeliveries(app, installation) : chosenInstallations(app.config, installation);
  return chosen.map(({ id }) => id);
}

/** Who does it and why; a command that holds others back needs a reason. */
export function whoAndWhy(options: OperateOptions, command: string, { needsReason = false } = {}) {
  if (needsReason && options.reason === undefined) {
    throw usageError('--reason is missing; say why.', command);
  }
  const reason = options.reason ?? `vetledger ${command}`;
  return actedBy({ reason, ...(options.by === undefined ? {} : { by: options.by }) }, command);
}

/** Asks before a command that names no installation concerns them all; false where the answer was no. */
export async function isMeant(
  context: CommandContext,
  { installation, yes }: OperateOptions,
  command: 'pause' | 'cancel',
  question: string,
): Promise<boolean> {
  if (installation !== undefined || yes) return true;
  const answer = await context.confirm(question);
  if (answer === null) {
    throw usageError('Without --installation it concerns all of them: name one, or give --yes.', command);
  }
  const done = command === 'pause' ? 'paused' : 'cancelled';
  if (!answer) await context.result({ [done]: [] }, () => 'Nothing was changed.');
  return answer;
}
