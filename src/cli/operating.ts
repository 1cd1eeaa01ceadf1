import { Option } from 'commander';
import { type App, chosenInstallations } from '../runtime/app.ts';
import { withTemporalClient } from '../runtime/temporal-client.ts';
import { operatingTexts, resultTexts } from '../texts/commands/results.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { pauseOrResume } from '../windows/pausing.ts';
import { actedBy, type Stated, statedBy } from './acting.ts';
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
  new Option('--reason <text>', 'the reason; it is recorded, and shown by `status` and in Temporal'),
  by,
];
export const yesToAll = new Option('--yes', 'do not ask for confirmation if no installation is named');

/** Pauses or resumes the scheduled windows. */
export function changeWindows(
  context: CommandContext,
  options: OperateOptions,
  stated: Stated,
  isPaused: boolean,
): Promise<number> {
  return withApp(context, { temporal: 'if_reachable' }, async (app) => {
    const by = await actedBy(app.db, stated);
    const chosen = chosenInstallations(app.config, options.installation).map(({ id }) => id);
    const changed: number[] = [];
    const change = async (client: Parameters<typeof pauseOrResume>[1]) => {
      for (const id of chosen) {
        if (await pauseOrResume(app, client, id, isPaused, by)) changed.push(id);
      }
    };
    if (app.temporal) await withTemporalClient(app, change);
    else await change(null);
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
      ? operatingTexts.alreadyPaused({ installation: id })
      : operatingTexts.notPaused({ installation: id });
  return isPaused ? operatingTexts.paused({ installation: id }) : operatingTexts.resumed({ installation: id });
}

/** The chosen installations; with --delivery, only those with an ERP. */
export async function chosenFor(app: App, { installation, delivery }: OperateOptions): Promise<number[]> {
  const chosen = delivery ? await chosenDeliveries(app, installation) : chosenInstallations(app.config, installation);
  return chosen.map(({ id }) => id);
}

/** The person and the reason. Throws ConfigError if `needsReason` is true and --reason is missing. */
export function whoAndWhy(options: OperateOptions, command: string, { needsReason = false } = {}) {
  if (needsReason && options.reason === undefined) {
    throw usageError(usageTexts.reasonMissing, command);
  }
  const reason = options.reason ?? `vetledger ${command}`;
  return statedBy({ by: options.by, reason }, command);
}

/** Asks for confirmation if no installation is named, because the command then applies to all. False if the answer is no. */
export async function isConfirmed(
  context: CommandContext,
  { installation, yes }: OperateOptions,
  command: 'pause' | 'cancel',
  question: string,
): Promise<boolean> {
  if (installation !== undefined || yes) return true;
  const answer = await context.confirm(question);
  if (answer === null) {
    throw usageError(usageTexts.allInstallations, command);
  }
  const done = command === 'pause' ? 'paused' : 'cancelled';
  if (!answer) await context.result({ [done]: [] }, () => resultTexts.nothingChanged);
  return answer;
}
