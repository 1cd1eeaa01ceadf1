import { z } from 'zod';
import { deliveryProblems } from '../../queries/delivery-status.ts';
import { countReports, documentProblems } from '../../queries/problems.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { named } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { problemAnswer, problemsText } from '../render/problems.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

export const command: Definition<Options> = {
  description:
    'Prints a line per cause, then its documents with date, customer, department, amount and VAT. A missing account is one cause, even if it holds many documents. All missing values of a document are listed together. For a posted document with a held change, it shows the old and new values, and the effect of the correction on each account.',
  options: [installation],
  examples: [
    ['vetledger problems', 'every document that needs attention'],
    ['vetledger problems retry 4711/invoice/123', 'judge a document again now'],
  ],
  answer: z.strictObject({ problems: z.array(problemAnswer) }),
  run: problems,
};

function problems(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const chosen = chosenInstallations(config, options.installation);
    const ids = chosen.map(({ id }) => id);
    const found = named(config, [...(await documentProblems(db, chosen)), ...(await deliveryProblems(db, ids))]);
    const reports = await countReports(db, ids);
    await context.result({ problems: found }, () => problemsText(found, reports));
    return 0;
  });
}
