import { Option } from 'commander';
import { z } from 'zod';
import { hashOf } from '../../actions/record.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { transactionsOf } from '../../db/lease.ts';
import { dateIn } from '../../domain/dates.ts';
import { changeInOrder, closedThrough } from '../../ledger/close.ts';
import type { BooksHead } from '../../ledger/head.ts';
import { summariseDays } from '../../ledger/summaries/summarise.ts';
import { date } from '../../queries/answer.ts';
import { closeAsShown, closeEffect, dayObstacle } from '../../queries/close-books.ts';
import { type ClosingChecklist, closingChecklist } from '../../queries/closing.ts';
import { checklistAnswer } from '../../queries/closing-answer.ts';
import { reconcileWithSource } from '../../queries/reconcile.ts';
import type { App } from '../../runtime/app.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { closeTexts } from '../../texts/commands/closing.ts';
import { agreed, personsOf, statedBy } from '../acting.ts';
import { chosenBooks, localTimes } from '../books.ts';
import { by, calendarDate, type Definition, installation, option, second, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { headAnswer, headFields } from '../render/ledger.ts';
import { noteText } from '../render/reconcile-notes.ts';
import { requestApproval, requestedAnswer } from '../second-person.ts';
import { withApp } from '../with-app.ts';
import { checklistText, closedText } from './ledger-close-text.ts';

interface Options {
  through: CalendarDate;
  installation?: number;
  dryRun?: true;
  by?: string;
  second?: string;
  yes?: true;
}

const answer = z.union([
  z.strictObject({
    installations: z.array(
      headAnswer.extend({
        installation: z.number(),
        closed_through: date,
        by: z.string(),
        second: z.string().nullable(),
        checklist: checklistAnswer.nullable(),
      }),
    ),
  }),
  z.strictObject({
    dry_run: z.literal(true),
    through: date,
    installations: z.array(z.strictObject({ installation: z.number(), checklist: checklistAnswer.nullable() })),
  }),
  z.strictObject({ closed: z.literal(false), installations: z.tuple([]) }),
  requestedAnswer,
]);

export const command: Definition<Options> = {
  description:
    'Prints a checklist: the last window, held and late documents, drafts up to the day, remarks, entries that are not in the ERP, differences, clearing accounts, unused prepayments and liabilities in debit. Then it asks for confirmation; without a terminal, --yes is required. After the close, nothing is posted on or before that day. `policies.locked_period` of the mapping decides about documents dated in the closed period, and `vetledger late` lists those that wait. The close is a link of the hash chain, with the names and the checklist.',
  options: [
    option('--through <date>', 'the last closed day (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
    installation,
    new Option('--dry-run', 'only print the checklist'),
    by,
    second,
    yes,
  ],
  examples: [
    ['vetledger ledger close --through 2026-01-31 --dry-run', 'the checklist for January'],
    ['vetledger ledger close --through 2026-01-31 --by "M. Virtanen"', 'close January'],
    ['vetledger ledger close --through 2026-01-31 --by "M. Virtanen" --second "A. Laine" --yes', 'with two persons'],
  ],
  answer,
  run: close,
};

/** Closes our own books through a past day, after a checklist and a question (ACCOUNTING "Locked"). */
function close(context: CommandContext, options: Options): Promise<number> {
  const { through } = options;
  return withApp(context, { temporal: false }, async (app) => {
    const { db, clock } = app;
    const isDry = options.dryRun === true;
    const chosen = await chosenBooks(app, options.installation);
    const reason = `ledger close --through ${through}`;
    const persons = isDry
      ? { by: '', second: null, onlyAsks: false }
      : await personsOf(app, statedBy({ by: options.by, reason }, 'ledger close'), options, 'ledger close');
    const toClose = await notYetClosed(app, chosen, through);
    const checklists = await checklistsOf(context, app, toClose, through);
    const checklist = (id: InstallationId) => checklists.get(id) ?? null;
    if (isDry) {
      const installations = chosen.map(({ id }) => ({ installation: id, checklist: checklist(id) }));
      await context.result({ dry_run: true, through, installations }, () =>
        chosen.map((each) => checklistText(each, checklist(each.id), through)).join('\n\n'),
      );
      return 0;
    }
    const shown = new Map<InstallationId, string>();
    for (const each of toClose) {
      const effect = await closeEffect(db, each, through, clock());
      if (effect.obstacle !== null) throw effect.obstacle;
      shown.set(each.id, hashOf(effect.shown));
      context.note(`${context.show(() => checklistText(each, checklist(each.id), through))}\n`);
    }
    if (toClose.length > 0) {
      const names = toClose.map(({ id }) => id).join(', ');
      const question = closeTexts.question({ installations: names, through });
      if (!(await agreed(context, options, question, 'ledger close'))) {
        await context.result({ closed: false, installations: [] }, () => closeTexts.notClosed);
        return 0;
      }
    }
    const by = { actedBy: persons.by, reason };
    if (persons.onlyAsks && shown.size > 0) {
      const requests = [...shown].map(([installation, shownHash]) => ({ installation, shownHash, input: { through } }));
      await requestApproval(context, db, { kind: 'close_books', by }, requests);
      return 0;
    }
    // Past days get their summaries before the close. Afterwards, only late documents lead to another summary.
    for (const { id, timezone, fiscalYearStart } of chosen)
      await summariseDays(transactionsOf(db), id, {
        ...{ before: dateIn(timezone, clock()), windowId: null, fiscalYearStart },
      });
    const heads = await changeInOrder(db, chosen, (trx, each) => {
      const seen = { shown: shown.get(each.id) ?? null, checklist: checklist(each.id) };
      return closeAsShown(trx, each, { through, by, second: persons.second, ...seen }, app);
    });
    const installations = heads.map((head) => ({
      ...closedBooks(head, through),
      by: persons.by,
      second: persons.second,
      checklist: checklist(head.installation),
    }));
    await context.result({ installations }, () => installations.map(closedText).join('\n'));
    return 0;
  });
}

/** The installations that are not closed through that day. Throws UserError if the day is not over, or a later day is closed. */
async function notYetClosed(
  { db, clock }: App,
  chosen: readonly InstallationConfig[],
  through: CalendarDate,
): Promise<InstallationConfig[]> {
  const left: InstallationConfig[] = [];
  for (const installation of chosen) {
    const closed = await closedThrough(db, installation.id);
    const obstacle = dayObstacle(installation, { through, closedThrough: closed }, clock());
    if (obstacle !== null) throw obstacle;
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
    context.note(noteText(installation, note, localTimes(app.config))),
  );
  for (const installation of installations) {
    const report = reports.find((each) => each.installation === installation.id);
    if (report === undefined) throw new Error(`installation ${installation.id} was not reconciled`);
    checklists.set(installation.id, await closingChecklist(app, installation, through, report, app.clock()));
  }
  return checklists;
}

function closedBooks(head: BooksHead, through: CalendarDate) {
  return { installation: head.installation, closed_through: through, ...headFields(head) };
}
