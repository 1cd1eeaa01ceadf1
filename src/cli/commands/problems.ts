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
    'A line for each cause first, then its documents with date, customer, department, amount and VAT. One missing account is one cause, however many documents it holds; everything that a document lacks is told at once. Of a posted document whose change is held: what changed, from what to what, and what the correction would do to each account.',
  options: [installation],
  examples: [
    ['vetledger problems', 'every document that needs somebody'],
    ['vetledger problems retry 4711/invoice/123', 'judge a document again now'],
  ],
  answer: z.strictObject({ problems: z.array(problemAnswer) }),
  run: problems,
};

/** The documents with a problem and the entries that the ERP refuses, and what to do. */
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
