import { Option } from 'commander';
import { z } from 'zod';
import { filedReturnsAnswer } from '../../queries/closing-answer.ts';
import { deliveryProblems } from '../../queries/delivery-status.ts';
import { countNotJudged, documentProblems } from '../../queries/problems.ts';
import { remarkedDocuments, remarksByCode } from '../../queries/remarks.ts';
import { filedReturnsOfAll } from '../../queries/vat-return-state.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { localTimes, named } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { problemAnswer, problemsText, remarkAnswer, remarkedAnswer } from '../render/problems.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  code?: string;
}

export const command: Definition<Options> = {
  description:
    'Prints a line per cause, then its documents with date, customer, department, amount and VAT. A missing account is one cause, even if it holds many documents. All missing values of a document are listed together. For a posted document with a held change, it shows the old and new values, and the effect of the correction on each account. Remarks about posted documents follow by code, with their number, the sum of the amounts concerned, and what to do. --code lists the documents of one code.',
  options: [installation, new Option('--code <code>', 'only the documents with this problem or remark')],
  examples: [
    ['vetledger problems', 'every document that needs attention'],
    ['vetledger problems --code overpaid', 'the documents with one remark'],
    ['vetledger problems retry 4711/invoice/123', 'judge a document again now'],
  ],
  answer: z.strictObject({
    problems: z.array(problemAnswer),
    /** Remarks by code; `documents` only with --code. */
    remarks: z.array(remarkAnswer),
    documents: z.array(remarkedAnswer).optional(),
    /** Filed VAT returns that changed since, and late entries in no return. */
    vat_returns: z.array(filedReturnsAnswer.extend({ installation: z.number() })),
    /** Documents that were read and wait for their first judgement. */
    not_judged: z.number(),
  }),
  run: problems,
};

function problems(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const chosen = chosenInstallations(config, options.installation);
    const ids = chosen.map(({ id }) => id);
    const { code = null } = options;
    const isAsked = (each: { code: string }) => code === null || each.code === code;
    const problems = [...(await documentProblems(db, chosen)), ...(await deliveryProblems(db, ids))].filter(isAsked);
    const remarks = (await remarksByCode(db, chosen)).filter(isAsked);
    const documents = code === null ? {} : { documents: await remarkedDocuments(db, chosen, code) };
    const returns = [...(await filedReturnsOfAll(db, chosen))].map(([id, found]) => ({ installation: id, ...found }));
    const answer = {
      problems: named(config, problems),
      remarks,
      ...documents,
      vat_returns: returns.filter(({ changed, late }) => changed.length + late.entries > 0),
      not_judged: await countNotJudged(db, ids),
    };
    await context.result(answer, () => problemsText(answer.problems, { ...answer, at: localTimes(config) }));
    return 0;
  });
}
