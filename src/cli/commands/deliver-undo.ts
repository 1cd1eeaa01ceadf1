import { Option } from 'commander';
import { z } from 'zod';
import { planUndo, type UndoPlan, undoUnits } from '../../erp/outbox/undo.ts';
import type { CalendarDate } from '../../terms.ts';
import { deliverTexts } from '../../texts/commands/delivery.ts';
import { count } from '../../wording/words.ts';
import { actedBy, agreed, statedBy } from '../acting.ts';
import { chosenDeliveries } from '../books.ts';
import { by, calendarDate, type Definition, installation, option, yes } from '../command.ts';
import { type CommandContext, refuseBackwards } from '../context.ts';
import { deliverAndReport, deliveredAnswer, wait } from '../run-deliveries.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  from: CalendarDate;
  to: CalendarDate;
  reason: string;
  by?: string;
  yes?: true;
  wait: number;
}

const answer = z.strictObject({
  undone: z.array(z.strictObject({ installation: z.number(), reversed: z.number(), withheld: z.number() })),
  installations: deliveredAnswer,
});

export const command: Definition<Options> = {
  description:
    'Use this if entries were delivered by mistake, such as a first load into the wrong company. Each entry in the ERP with one of these dates is reversed there by a new entry on the same date. Entries that were not sent yet are excluded from the delivery. Our own books do not change, and a later correction of such a document does not reverse it again. `vetledger deliver retry ID` sends an undone entry again. The command asks for confirmation; without a terminal, --yes is required.',
  options: [
    installation,
    option('--from <date>', 'first entry date (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
    option('--to <date>', 'last entry date (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
    new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(),
    by,
    yes,
    wait,
  ],
  examples: [
    [
      'vetledger deliver undo --from 2025-01-01 --to 2025-12-31 --reason "the year was entered by hand"',
      'one year, every installation',
    ],
  ],
  answer,
  run: undo,
};

/** After confirmation, reverses the delivered entries of these dates in the ERP, and excludes the others from the delivery. */
function undo(context: CommandContext, options: Options): Promise<number> {
  const stated = statedBy(options, 'deliver undo');
  const range = { from: options.from, to: options.to };
  refuseBackwards(range, 'deliver undo');
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    const chosen = await chosenDeliveries(app, options.installation);
    for (const { id, erp } of chosen) {
      const { reversed, withheld } = await planUndo(app.db, id, range);
      context.note(
        deliverTexts.toUndo({
          ...{ installation: id, kind: erp.kind, ...range, withheld },
          entries: count(reversed, 'entry'),
        }),
      );
    }
    if (!(await agreed(context, options, deliverTexts.undoQuestion, 'deliver undo'))) {
      await context.result({ undone: [], installations: [] }, () => deliverTexts.notUndone);
      return 0;
    }
    const undone: ({ installation: number } & UndoPlan)[] = [];
    for (const { id } of chosen) {
      const scope = { installation: id, databaseId: app.databaseId };
      undone.push({ installation: id, ...(await app.db.transaction((trx) => undoUnits(trx, scope, range, by))) });
    }
    return deliverAndReport(context, app, chosen, options.wait, { undone });
  });
}
