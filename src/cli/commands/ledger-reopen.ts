import { Option } from 'commander';
import { z } from 'zod';
import { hashOf } from '../../actions/record.ts';
import { visible } from '../../domain/text.ts';
import { changeInOrder } from '../../ledger/close.ts';
import { date } from '../../queries/answer.ts';
import { reopenAsShown, reopenEffect } from '../../queries/close-books.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { closeTexts } from '../../texts/commands/closing.ts';
import { personsText } from '../../wording/persons.ts';
import { agreed, personsOf, statedBy } from '../acting.ts';
import { chosenBooks } from '../books.ts';
import { by, calendarDate, type Definition, installation, option, second, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { headAnswer, headFields, headText } from '../render/ledger.ts';
import { requestApproval, requestedAnswer } from '../second-person.ts';
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
  requestedAnswer,
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
    const shown = new Map<InstallationId, string>();
    for (const each of chosen) {
      const { obstacle, closedThrough, filed, shown: effect } = await reopenEffect(app.db, each, from);
      if (obstacle !== null) throw obstacle;
      shown.set(each.id, hashOf(effect));
      context.note(closeTexts.willOpen({ installation: each.id, through: String(closedThrough), from }));
      if (filed.length > 0) context.note(closeTexts.filedOpen({ periods: filed.join(', ') }));
    }
    const names = chosen.map(({ id }) => id).join(', ');
    if (!(await agreed(context, options, closeTexts.openQuestion({ installations: names }), 'ledger reopen'))) {
      await context.result({ reopened: false, installations: [] }, () => closeTexts.notOpened);
      return 0;
    }
    const by = { actedBy: persons.by, reason: stated.reason };
    if (persons.onlyAsks) {
      const requests = [...shown].map(([installation, shownHash]) => ({ installation, shownHash, input: { from } }));
      await requestApproval(context, app.db, { kind: 'reopen_books', by }, requests);
      return 0;
    }
    const heads = await changeInOrder(app.db, chosen, (trx, each) => {
      const agreedTo = { from, by, second: persons.second, shown: shown.get(each.id) ?? null };
      return reopenAsShown(trx, each, agreedTo, app);
    });
    const installations = heads.map((head) => ({
      installation: head.installation,
      open_from: from,
      ...{ by: persons.by, second: persons.second },
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
