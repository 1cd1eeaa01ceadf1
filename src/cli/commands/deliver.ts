import { Option } from 'commander';
import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import { waitingForApproval } from '../../erp/outbox/outbox-queries.ts';
import { approveUnits } from '../../erp/outbox/state.ts';
import { date, plainError } from '../../queries/answer.ts';
import { deliveryStatus, unitsToSend } from '../../queries/delivery-status.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import type { CalendarDate } from '../../terms.ts';
import { deliverTexts } from '../../texts/commands/delivery.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { leftText } from '../../wording/delivery.ts';
import { count, timeIn } from '../../wording/words.ts';
import { actedBy, agreed, statedBy } from '../acting.ts';
import { chosenDeliveries, refuseBarred } from '../books.ts';
import { by, calendarDate, type Definition, installation, option, yes } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { deliveryAnswer } from '../render/delivery.ts';
import { membersOf, StreamedResult } from '../render/streamed-result.ts';
import { deliverAndReport, deliveredAnswer, wait } from '../run-deliveries.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  dryRun?: true;
  approve?: true;
  through?: CalendarDate;
  yes?: true;
  by?: string;
  wait: number;
}

const answer = z.union([
  z.strictObject({ installations: deliveredAnswer }),
  z.strictObject({ approved: z.literal(0), installations: z.tuple([]) }),
  z.strictObject({
    dry_run: z.literal(true),
    installations: z.array(
      deliveryAnswer.partial().extend({
        installation: z.number(),
        units: z.array(z.strictObject({ unit: z.string(), date, document: z.string(), problems: z.array(plainError) })),
        to_send: z.number(),
        lacking: z.number(),
        foreign: plainError.nullable(),
      }),
    ),
  }),
]);

export const command: Definition<Options> = {
  description:
    'While `vetledger run` is running, entries are delivered automatically after each window. This command delivers them now and waits. Entries of a first load or backfill require approval: --approve gives it for all entries dated up to --through. Exit code 3 if the ERP does not work.',
  options: [
    installation,
    new Option('--dry-run', 'only show what would be sent, and what is missing in the mapping'),
    new Option('--approve', 'approve the entries of first loads and backfills dated up to --through'),
    option('--through <date>', 'last date that is approved (YYYY-MM-DD)', calendarDate),
    yes,
    by,
    wait,
  ],
  examples: [
    ['vetledger deliver --dry-run', 'what would be sent, and what is missing'],
    ['vetledger deliver --approve --through 2026-03-31', 'the first quarter of a first load'],
    ['vetledger deliver --json', 'deliver due entries, with the result as JSON'],
  ],
  answer,
  run: deliver,
};

/** Delivers due entries. --approve first approves entries of first loads and backfills. --dry-run sends nothing. */
function deliver(context: CommandContext, options: Options): Promise<number> {
  const { approve, dryRun, through } = options;
  if ((approve === true) !== (through !== undefined)) {
    throw usageError(usageTexts.approveThrough, 'deliver');
  }
  if (approve && dryRun) throw usageError(usageTexts.dryRunOrApprove, 'deliver');
  return withApp(context, { temporal: !dryRun, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    if (dryRun) return previewDelivery(context, app, chosen);
    await refuseBarred(app, chosen);
    for (const { id } of chosen) await app.delivery.enqueue(installationOf(app.config, id));
    if (through !== undefined && !(await approveThrough(context, app, chosen, through, options))) {
      await context.result({ approved: 0, installations: [] }, () => deliverTexts.notApproved);
      return 0;
    }
    return deliverAndReport(context, app, chosen, options.wait);
  });
}

/** Approves the entries of first loads and backfills, after confirmation. False if the answer is no. */
async function approveThrough(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  through: CalendarDate,
  options: Options,
): Promise<boolean> {
  const reason = `deliver --approve --through ${through}`;
  const by = await actedBy(app.db, statedBy({ by: options.by, reason }, 'deliver'));
  for (const installation of chosen) {
    const { id, erp } = installation;
    const { error: foreign } = await app.delivery.foreign(installation, context.signal);
    if (foreign !== null) context.note(deliverTexts.foreign({ installation: id, ...foreign }));
    const { n, from, through: last } = await waitingForApproval(app.db, id);
    const dates = n === 0 ? '' : deliverTexts.dated({ from: String(from), through: String(last) });
    const entries = count(n, 'entryWaits');
    context.note(`${deliverTexts.waiting({ installation: id, kind: erp.kind, entries })}${dates}`);
  }
  const question = deliverTexts.approveQuestion({ through });
  if (!(await agreed(context, options, question, 'deliver'))) return false;
  for (const { id } of chosen) await app.db.transaction((trx) => approveUnits(trx, id, through, by));
  return true;
}

/** Shows what a delivery would send now, with the present mapping. */
async function previewDelivery(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
): Promise<number> {
  const result = new StreamedResult(context);
  result.json('{"dry_run":true,"installations":[');
  result.text(deliverTexts.dryRun);
  for (const [index, installation] of chosen.entries()) {
    const { id } = installation;
    await app.delivery.enqueue(installation);
    result.json(`${index > 0 ? ',' : ''}{"installation":${id},"units":`);
    const capabilities = app.delivery.capabilities(installation);
    let toSend = 0;
    let lacking = 0;
    await result.list(
      (async function* () {
        for await (const page of unitsToSend(app.db, app.databaseId, installation, capabilities)) {
          context.signal.throwIfAborted();
          toSend += page.length;
          yield page.map((unit) => {
            const { problems } = unit;
            if (problems.length > 0) lacking += 1;
            const said = problems.map(
              ({ code, message, todo }) => `  ${code}: ${message}\n  ${resultTexts.todo({ todo })}`,
            );
            return { json: unit, text: problems.length === 0 ? '' : [unit.unit, ...said].join('\n') };
          });
        }
      })(),
    );
    const { error: foreign } = await app.delivery.foreign(installation, context.signal);
    const status = await deliveryStatus(app.db, installation);
    result.json(`,${membersOf({ to_send: toSend, lacking, foreign, ...status })}}`);
    if (foreign !== null) result.text(deliverTexts.barred({ installation: id, ...foreign }));
    const waiting = status === null ? null : leftText({ ...status, left: 0 }, timeIn(installation.timezone));
    const entries = count(toSend, 'entry');
    const others = waiting === null ? '' : deliverTexts.inAddition({ waiting });
    result.text(`${deliverTexts.toSend({ installation: id, entries, lacking })}${others}`);
  }
  result.json(']}');
  await result.end();
  return 0;
}
