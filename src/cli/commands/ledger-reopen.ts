import { Option } from 'commander';
import { z } from 'zod';
import { visible } from '../../domain/text.ts';
import { type CloseDetails, closedThrough, refuseOpen, reopenPeriods } from '../../ledger/close.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { closeTexts } from '../../texts/commands/closing.ts';
import { agreed, personsOf, statedBy } from '../acting.ts';
import { date } from '../answer.ts';
import { chosenBooks } from '../books.ts';
import { by, calendarDate, type Definition, installation, option, second, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { headAnswer, headFields, headText, personsText } from '../render/ledger.ts';
import { withApp } from '../with-app.ts';

interface Options {
  from: CalendarDate;
  reason: string;
  installation?: number;
  by?: string;
  second?: string;
  yes?: true;
}

const answer = z.union([
  z.strictObject({
    installations: z.array(
      headAnswer.extend({
        installation: z.number(),
        open_from: date,
        by: z.string(),
        second: z.string().nullable(),
        reason: z.string(),
      }),
    ),
  }),
  z.strictObject({ reopened: z.literal(false), installations: z.tuple([]) }),
]);

export const command: Definition<Options> = {
  description:
    'The reopening is a link of the hash chain, with name, time and reason. Documents that were late at the close are not posted automatically: decide each with `vetledger late decide`. A period that the ERP has closed must be opened in the ERP. The command asks for confirmation; without a terminal, --yes is required.',
  options: [
    option('--from <date>', 'the first day that is open again (YYYY-MM-DD)', calendarDate).makeOptionMandatory(),
    new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(),
    installation,
    by,
    second,
    yes,
  ],
  examples: [
    [
      'vetledger ledger reopen --from 2026-01-01 --reason "the bank statement of January was wrong" --by "M. Virtanen"',
      'January is open again',
    ],
  ],
  answer,
  run: reopen,
};

function reopen(context: CommandContext, options: Options): Promise<number> {
  const { from } = options;
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const stated = statedBy(options, 'ledger reopen');
    const persons = await personsOf(app, stated, options, 'ledger reopen');
    for (const { id } of chosen) {
      const through = await closedThrough(app.db, id);
      refuseOpen(id, from, through);
      context.note(closeTexts.willOpen({ installation: id, through: String(through), from }));
    }
    const names = chosen.map(({ id }) => id).join(', ');
    if (!(await agreed(context, options, closeTexts.openQuestion({ installations: names }), 'ledger reopen'))) {
      await context.result({ reopened: false, installations: [] }, () => closeTexts.notOpened);
      return 0;
    }
    const ids = chosen.map(({ id }) => id);
    const details: CloseDetails = {
      actedBy: persons.by,
      reason: stated.reason,
      second: persons.second,
      checklist: null,
    };
    const heads = await reopenPeriods(app.db, ids, from, details, app.config.sealKey);
    const installations = heads.map((head) => ({
      installation: head.installation,
      open_from: from,
      ...persons,
      reason: stated.reason,
      ...headFields(head),
    }));
    await context.result({ installations }, () => installations.map(reopenedText).join('\n'));
    return 0;
  });
}

function reopenedText(
  reopened: ReturnType<typeof headFields> & {
    installation: InstallationId;
    open_from: CalendarDate;
    by: string;
    second: string | null;
    reason: string;
  },
): string {
  const { installation, open_from: from, reason } = reopened;
  return [
    closeTexts.opened({ installation, from, by: personsText(reopened), reason: visible(reason) }),
    headText(reopened.head, reopened.summary_head),
    closeTexts.lateStay,
  ].join('\n');
}
