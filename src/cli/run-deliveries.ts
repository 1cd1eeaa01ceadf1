import { z } from 'zod';
import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { about } from '../domain/durations.ts';
import { deliveredSince } from '../erp/outbox/outbox-queries.ts';
import { type DeliveryStatus, deliveryStatus } from '../queries/delivery-status.ts';
import { type App, installationOf } from '../runtime/app.ts';
import { type Engine, startEngine } from '../runtime/worker.ts';
import { runTexts } from '../texts/commands/windows.ts';
import { stepTexts } from '../texts/steps.ts';
import { waitForDeliveries } from '../windows/wait-for-deliveries.ts';
import { leftText } from '../wording/delivery.ts';
import { count } from '../wording/words.ts';
import { localTimes } from './books.ts';
import { option, wholeNumber } from './command.ts';
import type { CommandContext, Io } from './context.ts';
import { ProgressBars } from './progress.ts';
import { deliveryAnswer } from './render/delivery.ts';

/** `--wait` of the commands that deliver. */
export const wait = option(
  '--wait <seconds>',
  'give up if the ERP has not worked, or not answered, for this time',
  wholeNumber,
).default(60);

/** The JSON of `deliverAndReport` for each installation. */
export const deliveredAnswer = z.array(
  deliveryAnswer.partial().extend({ installation: z.number(), delivered: z.number() }),
);

export interface DeliverOptions {
  /** The longest wait. Null: wait until nothing is due. */
  seconds: number | null;
  /** The option as in `waitForDeliveries`. */
  stuckSeconds?: number;
}

/**
 * Starts the deliveries of the installations with an ERP, and waits for them with a progress bar. If entries are left at the end of
 * the wait, prints a note; the next process that delivers sends them.
 */
export async function deliverNow(
  context: Pick<CommandContext, 'signal' | 'note' | 'language'> & { io: Pick<Io, 'stderr'> },
  app: App,
  engine: Engine,
  installations: readonly number[],
  options: DeliverOptions,
): Promise<Map<number, DeliveryStatus>> {
  const delivered = installations
    .map((id) => installationOf(app.config, id))
    .filter(({ erp }) => isDelivered(erp))
    .filter(() => options.seconds !== 0);
  const statuses = new Map<number, DeliveryStatus>();
  if (delivered.length === 0) return statuses;
  const bars = new ProgressBars(context.io.stderr, context.language);
  const beganMs = performance.now();
  const mostItems = new Map<number, number>();
  try {
    for (const { id } of delivered) await engine.requestDelivery(id);
    await waitForDeliveries(
      app,
      engine,
      delivered.map(({ id }) => id),
      {
        ...options,
        signal: context.signal,
        onProgress: ({ installation, done, left, openItems }) => {
          const of = delivered.length > 1 ? installation : null;
          if (done + left > 0) {
            const seconds = estimate(done, left, performance.now() - beganMs);
            bars.show({ of, step: stepTexts.delivering, done, total: done + left, left: seconds });
          }
          if (left > 0 || openItems === 0) return;
          const most = Math.max(openItems, mostItems.get(installation) ?? 0);
          mostItems.set(installation, most);
          bars.show({ of, step: runTexts.matching, done: most - openItems, total: most });
        },
      },
    );
  } finally {
    bars.end();
  }
  for (const installation of delivered) {
    const status = await deliveryStatus(app.db, installation);
    if (status === null) continue;
    statuses.set(installation.id, status);
    const text = leftText(status, (time) => localTimes(app.config)(installation.id, time));
    if (text !== null) context.note(runTexts.ofInstallation({ installation: installation.id, text }));
  }
  return statuses;
}

/** The remaining time at the speed so far. Null before the first delivery. */
function estimate(done: number, left: number, elapsedMs: number): string | null {
  if (done === 0 || left === 0) return null;
  return runTexts.timeLeft({ time: about(((elapsedMs / 1000) * left) / done) });
}

/** The result of one installation's delivery. */
type Report = { installation: number; delivered: number } & Partial<Omit<DeliveryStatus, 'delivered'>>;

/** Delivers in this process, until nothing is due or the ERP has not worked for `stuckSeconds`. */
export async function deliverHere(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  stuckSeconds: number,
): Promise<Map<number, DeliveryStatus>> {
  const engine = await startEngine(app, {}, (line) => app.log.info(line), { only: 'delivery', command: 'deliver' });
  try {
    const ids = chosen.map(({ id }) => id);
    return await deliverNow(context, app, engine, ids, { seconds: null, stuckSeconds });
  } finally {
    await engine.stop();
  }
}

/** Delivers and prints the result. Exit code 3 if the ERP did not work. The fields of `done` come first in the JSON. */
export async function deliverAndReport(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  waitSeconds: number,
  done: object = {},
): Promise<number> {
  const since = app.clock();
  const statuses = await deliverHere(context, app, chosen, waitSeconds);
  const reports: Report[] = [];
  for (const { id } of chosen) {
    reports.push({ installation: id, ...statuses.get(id), delivered: await deliveredSince(app.db, id, since) });
  }
  await context.result({ ...done, installations: reports }, () => reports.map(reportText).join('\n'));
  const [stuck] = [...statuses.values()].filter(({ left, last_error }) => left > 0 && last_error !== null);
  if (!stuck?.last_error) return 0;
  return 3;
}

function reportText({ installation, delivered }: Report): string {
  return runTexts.deliveredTo({ installation, entries: count(delivered, 'entry') });
}
