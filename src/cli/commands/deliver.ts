import type { InstallationConfig } from '../../config/load.ts';
import { UserError } from '../../domain/errors.ts';
import { deliveredSince, unitsById, waitingForConsent } from '../../erp/outbox/read.ts';
import { approveUnits, pauseDelivery, resumeDelivery, retryUnits } from '../../erp/outbox/state.ts';
import { planUndo, redoUnits, type UndoPlan, undoUnits } from '../../erp/outbox/undo.ts';
import type { UnitState } from '../../erp/outbox/unit.ts';
import { ackBatches } from '../../erp/targets/files/ack.ts';
import { parseBatchCode } from '../../erp/targets/files/format.ts';
import { type DeliveryStatus, deliveryProblems, deliveryStatus, unitsToSend } from '../../queries/deliveries.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { requestDeliveriesOnce } from '../../runtime/deliveries.ts';
import { startEngine } from '../../runtime/worker.ts';
import type { CalendarDate } from '../../terms.ts';
import { actedBy } from '../acting.ts';
import { chosenDeliveries, refuseBarred } from '../books.ts';
import { type CommandContext, refuseBackwards, usageError } from '../context.ts';
import { leftText, stateTexts } from '../render/delivery.ts';
import { problemsText } from '../render/problems.ts';
import { membersOf, StreamedResult } from '../render/streamed-result.ts';
import { count } from '../render/text.ts';
import { deliverNow } from '../run-deliveries.ts';
import { withApp } from '../with-app.ts';

interface Common {
  installation?: number;
}

export interface DeliverCommandOptions extends Common {
  dryRun?: true;
  approve?: true;
  through?: CalendarDate;
  yes?: true;
  by?: string;
  wait: number;
}

/** What one installation's delivery did, and what is left. */
type Report = { installation: number; delivered: number } & Partial<Omit<DeliveryStatus, 'delivered'>>;

/** Delivers what is due; with --approve, what a first load or a backfill brought, too; with --dry-run, only says what it would send. */
export function deliver(context: CommandContext, options: DeliverCommandOptions): Promise<number> {
  const { approve, dryRun, through } = options;
  if ((approve === true) !== (through !== undefined)) {
    throw usageError('--approve and --through DATE belong together.', 'deliver');
  }
  if (approve && dryRun) throw usageError('Give --dry-run or --approve, not both.', 'deliver');
  return withApp(context, { temporal: !dryRun, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    if (dryRun) return previewDelivery(context, app, chosen);
    await refuseBarred(app, chosen);
    for (const { id } of chosen) await app.delivery.enqueue(installationOf(app.config, id));
    if (through !== undefined && !(await consent(context, app, chosen, through, options))) {
      await context.result({ approved: 0, installations: [] }, () => 'Nothing was approved, and nothing sent.');
      return 0;
    }
    return deliverAndReport(context, app, chosen, options.wait);
  });
}

/** Consents to what first loads and backfills brought, once it was confirmed; false where it was not. */
async function consent(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  through: CalendarDate,
  options: DeliverCommandOptions,
): Promise<boolean> {
  const by = actedBy(
    { reason: `deliver --approve --through ${through}`, ...(options.by ? { by: options.by } : {}) },
    'deliver',
  );
  for (const installation of chosen) {
    const { id, erp } = installation;
    const foreign = await app.delivery.foreign(installation, context.signal);
    if (foreign !== null) context.note(`installation ${id}: ${foreign.message}. ${foreign.todo}`);
    const { n, from, through: last } = await waitingForConsent(app.db, id);
    const dates = n === 0 ? '' : `, dated ${from} to ${last}`;
    context.note(`installation ${id}, ${erp.kind}: ${count(n, 'entry waits', 'entries wait')} for consent${dates}`);
  }
  if (options.yes !== true) {
    const answer = await context.confirm(
      `Send those dated up to ${through}? What the ERP has posted cannot be taken back.`,
    );
    if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', 'deliver');
    if (!answer) return false;
  }
  for (const { id } of chosen) await app.db.transaction((trx) => approveUnits(trx, id, through, by));
  return true;
}

async function deliverAndReport(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  waitSeconds: number,
  done: object = {},
): Promise<number> {
  const since = app.clock();
  const engine = await startEngine(app, {}, (line) => app.log.info(line), { only: 'delivery', command: 'deliver' });
  let statuses: Map<number, DeliveryStatus>;
  try {
    const ids = chosen.map(({ id }) => id);
    statuses = await deliverNow(context, app, engine, ids, { seconds: null, stuckSeconds: waitSeconds });
  } finally {
    await engine.stop();
  }
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
  return `Installation ${installation}: ${count(delivered, 'entry', 'entries')} delivered.`;
}

/** What a delivery would send now, by the mapping as it is. */
async function previewDelivery(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
): Promise<number> {
  const result = new StreamedResult(context);
  result.json('{"dry_run":true,"installations":[');
  result.text('Dry run: nothing is sent.');
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
            const said = problems.map(({ code, message, todo }) => `  ${code}: ${message}\n  what to do: ${todo}`);
            return { json: unit, text: problems.length === 0 ? '' : [unit.unit, ...said].join('\n') };
          });
        }
      })(),
    );
    const foreign = await app.delivery.foreign(installation, context.signal);
    const status = await deliveryStatus(app.db, installation);
    result.json(`,${membersOf({ to_send: toSend, lacking, foreign, ...status })}}`);
    if (foreign !== null)
      result.text(`Installation ${id}: ${foreign.message}. Nothing is sent before: ${foreign.todo}`);
    const waiting = status === null ? null : leftText({ ...status, left: 0 });
    result.text(
      `Installation ${id}: ${count(toSend, 'entry', 'entries')} to send, ${lacking} of them not yet: the mapping lacks something.${
        waiting === null ? '' : ` Beside them: ${waiting}.`
      }`,
    );
  }
  result.json(']}');
  await result.end();
  return 0;
}

export interface RetryOptions extends Common {
  all?: true;
  by?: string;
  wait: number;
}

/** Sends refused and undone units again; each is looked up in the ERP first. */
export function retry(context: CommandContext, options: RetryOptions, ids: readonly string[]): Promise<number> {
  if (ids.length > 0 === (options.all === true)) {
    throw usageError('Name the entries, as `vetledger problems` prints them, or give --all.', 'deliver retry');
  }
  const by = actedBy({ reason: 'deliver retry', ...(options.by ? { by: options.by } : {}) }, 'deliver retry');
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const retried: string[] = [];
    const named = options.all ? null : ids;
    const states = named === null ? null : await statesOf(app, chosen, named);
    for (const { id } of chosen) {
      await app.db.transaction(async (trx) => {
        retried.push(...(await retryUnits(trx, id, named, by)));
        if (named) retried.push(...(await redoUnits(trx, { installation: id, databaseId: app.databaseId }, named, by)));
      });
    }
    const engine = await startEngine(app, {}, (line) => app.log.info(line), { only: 'delivery', command: 'deliver' });
    try {
      const installations = chosen.map(({ id }) => id);
      await deliverNow(context, app, engine, installations, { seconds: null, stuckSeconds: options.wait });
    } finally {
      await engine.stop();
    }
    const problems = await deliveryProblems(
      app.db,
      chosen.map(({ id }) => id),
    );
    const left = problems.filter(({ id }) => retried.includes(id));
    const notRetried = [...(states ?? [])].filter(([id]) => !retried.includes(id));
    await context.result({ retried, problems: left }, () =>
      [
        [
          `${count(retried.length, 'entry', 'entries')} tried again.`,
          ...notRetried.map(([id, state]) => `${id} was not refused: ${stateTexts[state]}.`),
        ].join('\n'),
        problemsText(left, 0),
      ].join('\n\n'),
    );
    return 0;
  });
}

/** The states of the entries with these ids, as they are now. Throws UserError unless each id is one of the outbox's. */
async function statesOf(app: App, chosen: readonly InstallationConfig[], ids: readonly string[]) {
  const known = new Map<string, UnitState>();
  for (const { id } of chosen)
    for (const { unit_id: unit, state } of await unitsById(app.db, id, ids)) known.set(unit, state);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return known;
  throw new UserError(
    'unit_unknown',
    `There is no entry ${unknown} in the outbox.`,
    'Ids are those that `vetledger problems` prints, such as 4711/invoice/123/1.',
    1,
  );
}

export interface AckOptions {
  reason?: string;
  by?: string;
}

/** Notes that batches of files were read in; all of them, or none where one is wrong. */
export function ack(context: CommandContext, options: AckOptions, batches: readonly string[]): Promise<number> {
  const named = batches.map((batch) => {
    const found = parseBatchCode(batch);
    if (found === null) throw usageError(`${batch} is no batch; its name is like 4711-000001.`, 'deliver ack');
    return found;
  });
  const reason = options.reason ?? `deliver ack ${batches.join(' ')}`;
  const by = actedBy({ reason, ...(options.by === undefined ? {} : { by: options.by }) }, 'deliver ack');
  return withApp(context, { temporal: false }, async (app) => {
    const acknowledged = await ackBatches(app.db, named, by);
    await context.result({ acknowledged }, () =>
      acknowledged
        .map(({ batch, file, units }) =>
          units === 0
            ? `Batch ${batch} was acknowledged before.`
            : `Batch ${batch} (${file}) is acknowledged: ${count(units, 'entry', 'entries')}.`,
        )
        .join('\n'),
    );
    return 0;
  });
}

export interface UndoOptions extends Common {
  from: CalendarDate;
  to: CalendarDate;
  reason: string;
  by?: string;
  yes?: true;
  wait: number;
}

/** Reverses in the ERP what was delivered of these dates, and keeps from it what was not, once it was confirmed. */
export function undo(context: CommandContext, options: UndoOptions): Promise<number> {
  const by = actedBy(options, 'deliver undo');
  const range = { from: options.from, to: options.to };
  refuseBackwards(range, 'deliver undo');
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    for (const { id, erp } of chosen) {
      const { reversed, withheld } = await planUndo(app.db, id, range);
      context.note(
        `installation ${id}, ${erp.kind}, ${range.from} to ${range.to}: ${count(reversed, 'entry', 'entries')} to reverse in the ERP, ${withheld} not sent yet, to be kept from it`,
      );
    }
    if (options.yes !== true) {
      const answer = await context.confirm('Reverse them? The entries and their reversals both stay in the ERP.');
      if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', 'deliver undo');
      if (!answer) {
        await context.result({ undone: [], installations: [] }, () => 'Nothing was undone.');
        return 0;
      }
    }
    const undone: ({ installation: number } & UndoPlan)[] = [];
    for (const { id } of chosen) {
      const scope = { installation: id, databaseId: app.databaseId };
      undone.push({ installation: id, ...(await app.db.transaction((trx) => undoUnits(trx, scope, range, by))) });
    }
    return deliverAndReport(context, app, chosen, options.wait, { undone });
  });
}

export interface PauseOptions extends Common {
  reason: string;
  by?: string;
}

/** Holds the deliveries from their next batch on. */
export function pause(context: CommandContext, options: PauseOptions): Promise<number> {
  const by = actedBy(options, 'deliver pause');
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const paused: number[] = [];
    for (const { id } of chosen) if (await app.db.transaction((trx) => pauseDelivery(trx, id, by))) paused.push(id);
    await context.result({ paused }, () =>
      chosen
        .map(({ id }) =>
          paused.includes(id)
            ? `The delivery of installation ${id} is paused; windows go on. \`vetledger deliver resume\` lets it go on.`
            : `The delivery of installation ${id} was paused already.`,
        )
        .join('\n'),
    );
    return 0;
  });
}

/** Lets paused deliveries go on. */
export function resume(context: CommandContext, options: Common & { by?: string }): Promise<number> {
  const by = actedBy({ reason: 'deliver resume', ...(options.by ? { by: options.by } : {}) }, 'deliver resume');
  return withApp(context, { temporal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const resumed: number[] = [];
    for (const { id } of chosen) if (await app.db.transaction((trx) => resumeDelivery(trx, id, by))) resumed.push(id);
    await requestDeliveriesOnce(app, resumed);
    await context.result({ resumed }, () =>
      chosen
        .map(({ id }) =>
          resumed.includes(id)
            ? `The delivery of installation ${id} goes on as soon as \`vetledger run\` is up, or with \`vetledger deliver\`.`
            : `The delivery of installation ${id} was not paused.`,
        )
        .join('\n'),
    );
    return 0;
  });
}
