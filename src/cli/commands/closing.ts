import type { InstallationConfig } from '../../config/load.ts';
import { transactionsOf } from '../../db/lease.ts';
import { noteLateAtClose } from '../../documents/mark.ts';
import { businessDate } from '../../domain/dates.ts';
import {
  type CloseDetails,
  closedThrough,
  closePeriods,
  type RecordedClose,
  recordedCloses,
  refuseEarlier,
  refuseOpen,
  reopenPeriods,
} from '../../ledger/close.ts';
import type { BooksHead } from '../../ledger/head.ts';
import { summariseDays } from '../../ledger/summaries/append.ts';
import { type ClosingChecklist, closingChecklist } from '../../queries/closing.ts';
import { reconcileWithSource } from '../../queries/reconcile.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { actedBy, personsOf } from '../acting.ts';
import { chosenBooks } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { checklistText, closedText, closesText, reopenedText } from '../render/closing.ts';
import { headFields } from '../render/ledger.ts';
import { noteText } from '../render/reconcile-notes.ts';
import { withApp } from '../with-app.ts';

interface Persons {
  by?: string;
  second?: string;
  yes?: true;
}

export interface CloseCommandOptions extends Persons {
  through: CalendarDate;
  installation?: number;
  dryRun?: true;
}

/** Closes our own books through a past day, after a checklist and a question (ACCOUNTING "Locked"). */
export function close(context: CommandContext, options: CloseCommandOptions): Promise<number> {
  const { through } = options;
  return withApp(context, { temporal: false }, async (app) => {
    const { db, clock, config } = app;
    const isDry = options.dryRun === true;
    const chosen = await chosenBooks(app, options.installation);
    const persons = isDry ? { by: '', second: null } : personsOf(options, config, 'ledger close');
    const toClose = await notYetClosed(app, chosen, through);
    const checklists = await checklistsOf(context, app, toClose, through);
    const checklist = (id: InstallationId) => checklists.get(id) ?? null;
    if (isDry) {
      const installations = chosen.map(({ id }) => ({ installation: id, checklist: checklist(id) }));
      await context.result({ dry_run: true, through, installations }, () =>
        installations.map((each) => checklistText(each.installation, each.checklist, through)).join('\n\n'),
      );
      return 0;
    }
    if (toClose.length > 0) {
      for (const { id } of toClose) context.note(`${checklistText(id, checklist(id), through)}\n`);
      const names = toClose.map(({ id }) => id).join(', ');
      const question = `Close the books of installation ${names} through ${through}?`;
      if (!(await agreed(context, options, question, 'ledger close'))) {
        await context.result({ closed: false, installations: [] }, () => 'Nothing was closed.');
        return 0;
      }
    }
    const books = chosen.map(({ id, timezone }) => {
      const details: CloseDetails = { ...persons, reason: null, checklist: checklist(id) };
      return { id, today: today(clock(), timezone), details };
    });
    // Summaries of days that are over are made first: a closed day gets another one only for late documents.
    for (const { id, today } of books) await summariseDays(transactionsOf(db), id, { before: today, windowId: null });
    const heads = await closePeriods(db, books, through, {
      sealKey: config.sealKey,
      onClosed: (trx, installation) => noteLateAtClose(trx, installation, through),
    });
    const installations = heads.map((head) => ({
      ...closed(head, through),
      by: persons.by,
      second: persons.second,
      checklist: checklist(head.installation),
    }));
    await context.result({ installations }, () => installations.map(closedText).join('\n'));
    return 0;
  });
}

export interface ReopenCommandOptions extends Persons {
  from: CalendarDate;
  reason: string;
  installation?: number;
}

/** Opens our own books again from a day on. */
export function reopen(context: CommandContext, options: ReopenCommandOptions): Promise<number> {
  const { from } = options;
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const { reason } = actedBy(options, 'ledger reopen');
    const persons = personsOf(options, app.config, 'ledger reopen');
    for (const { id } of chosen) {
      const through = await closedThrough(app.db, id);
      refuseOpen(id, from, through);
      context.note(`Installation ${id}: closed through ${through}; open from ${from} on after this.`);
    }
    const names = chosen.map(({ id }) => id).join(', ');
    if (!(await agreed(context, options, `Open the books of installation ${names} again?`, 'ledger reopen'))) {
      await context.result({ reopened: false, installations: [] }, () => 'Nothing was opened.');
      return 0;
    }
    const ids = chosen.map(({ id }) => id);
    const details: CloseDetails = { ...persons, reason, checklist: null };
    const heads = await reopenPeriods(app.db, ids, from, details, app.config.sealKey);
    const installations = heads.map((head) => ({
      installation: head.installation,
      open_from: from,
      ...persons,
      reason,
      ...headFields(head),
    }));
    await context.result({ installations }, () => installations.map(reopenedText).join('\n'));
    return 0;
  });
}

/** Prints the closes and reopenings. */
export function closes(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: { installation: InstallationId; closes: RecordedClose[] }[] = [];
    for (const { id } of chosenInstallations(config, options.installation)) {
      installations.push({ installation: id, closes: await recordedCloses(db, id) });
    }
    await context.result({ installations }, () => installations.map(closesText).join('\n'));
    return 0;
  });
}

/** Those that are not closed through that very day. Throws UserError where the day is not over, or a later one is closed. */
async function notYetClosed(
  { db, clock }: App,
  chosen: readonly InstallationConfig[],
  through: CalendarDate,
): Promise<InstallationConfig[]> {
  const left: InstallationConfig[] = [];
  for (const installation of chosen) {
    const { id, timezone } = installation;
    if (through >= today(clock(), timezone)) {
      throw usageError(
        `${through} is not over yet for installation ${id}: only past days can be closed.`,
        'ledger close',
      );
    }
    const closed = await closedThrough(db, id);
    refuseEarlier(id, through, closed);
    if (closed !== through) left.push(installation);
  }
  return left;
}

async function checklistsOf(
  context: CommandContext,
  app: App,
  installations: readonly InstallationConfig[],
  through: CalendarDate,
): Promise<Map<InstallationId, ClosingChecklist>> {
  const checklists = new Map<InstallationId, ClosingChecklist>();
  if (installations.length === 0) return checklists;
  const { installations: reports } = await reconcileWithSource(app, installations, (installation, note) =>
    context.note(noteText(installation, note)),
  );
  for (const installation of installations) {
    const report = reports.find((each) => each.installation === installation.id);
    if (report === undefined) throw new Error(`installation ${installation.id} was not reconciled`);
    checklists.set(installation.id, await closingChecklist(app, installation, through, report, app.clock()));
  }
  return checklists;
}

async function agreed(
  context: CommandContext,
  { yes }: { yes?: true },
  question: string,
  command: string,
): Promise<boolean> {
  if (yes === true) return true;
  const answer = await context.confirm(question);
  if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', command);
  return answer;
}

function closed(head: BooksHead, through: CalendarDate) {
  return { installation: head.installation, closed_through: through, ...headFields(head) };
}

function today(now: Date, timezone: string): CalendarDate {
  const date = businessDate(now.toISOString(), timezone);
  if (date === null) throw new Error(`no calendar date in ${timezone} at ${now.toISOString()}`);
  return date;
}
