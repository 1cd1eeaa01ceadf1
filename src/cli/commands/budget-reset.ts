import { Option } from 'commander';
import { z } from 'zod';
import { UserError } from '../../domain/errors.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { budgetResetTexts, resultTexts } from '../../texts/commands/results.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { count } from '../../wording/words.ts';
import { agreed } from '../acting.ts';
import { type Definition, installation, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { instant as instantText } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  action?: string;
  yes?: true;
}

const answer = z.strictObject({ reset: z.array(z.strictObject({ installation: z.number(), action: z.string() })) });

export const command: Definition<Options> = {
  description:
    'Use this if the source requested a pause by mistake. Requests that were already sent still count. Without this command, a pause ends automatically after at most 15 minutes. The command asks for confirmation; without a terminal, --yes is required.',
  options: [installation, new Option('--action <name>', 'only this budget, as `status` names it (default: all)'), yes],
  examples: [
    ['vetledger budget reset', 'all budgets of every installation'],
    ['vetledger budget reset --installation 4711 --action invoice.list --yes', 'one budget, without a question'],
  ],
  answer,
  run: reset,
};

/** Removes the blocks and lowered limits of rate budgets, after confirmation. */
function reset(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async ({ config, budget }) => {
    const chosen = chosenInstallations(config, options.installation);
    const found = await Promise.all(
      chosen.map(async ({ id }) =>
        (await budget(id).usage())
          .filter(({ action }) => options.action === undefined || action === options.action)
          .map((usage) => ({ ...usage, installation: id })),
      ),
    );
    const budgets = found.flat();
    if (options.action !== undefined && budgets.length === 0) {
      throw new UserError(commandErrors.budgetUnknown({ action: options.action }), 1);
    }
    const lowered = budgets.filter(({ blockedUntil, limit, limitNow }) => blockedUntil !== null || limitNow < limit);
    for (const { installation, action, blockedUntil, limit, limitNow } of lowered) {
      const until = blockedUntil && instantText(blockedUntil);
      context.note(budgetResetTexts.budget({ installation, action, limit, limitNow, blockedUntil: until }));
    }
    if (lowered.length > 0 && !(await agreed(context, options, budgetResetTexts.question, 'budget reset'))) {
      await context.result({ reset: [] }, () => resultTexts.nothingChanged);
      return 0;
    }
    for (const { installation, action } of lowered) await budget(installation).forget(action);
    const reset = lowered.map(({ installation, action }) => ({ installation, action }));
    await context.result({ reset }, () =>
      reset.length === 0 ? budgetResetTexts.none : budgetResetTexts.reset({ budgets: count(reset.length, 'budget') }),
    );
    return 0;
  });
}
