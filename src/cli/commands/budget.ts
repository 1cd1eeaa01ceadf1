import { UserError } from '../../domain/errors.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { type CommandContext, usageError } from '../context.ts';
import { count, instant } from '../render/text.ts';
import { withApp } from '../with-app.ts';

/** Forgets the blocks and lowered limits of rate budgets, once it was confirmed. */
export function reset(
  context: CommandContext,
  options: { installation?: number; action?: string; yes?: true },
): Promise<number> {
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
      throw new UserError(
        'budget_unknown',
        `No budget named ${options.action} was ever used.`,
        '`vetledger status` lists the budgets by their names.',
        1,
      );
    }
    const lowered = budgets.filter(({ blockedUntil, limit, limitNow }) => blockedUntil !== null || limitNow < limit);
    for (const { installation, action, blockedUntil, limit, limitNow } of lowered) {
      const blocked = blockedUntil === null ? '' : `, blocked until ${instant(blockedUntil)}`;
      context.note(`installation ${installation}, ${action}: ${limitNow} of ${limit}${blocked}`);
    }
    if (lowered.length > 0 && options.yes !== true) {
      const answer = await context.confirm('Forget these blocks and lowered limits?');
      if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', 'budget reset');
      if (!answer) {
        await context.result({ reset: [] }, () => 'Nothing was changed.');
        return 0;
      }
    }
    for (const { installation, action } of lowered) await budget(installation).forget(action);
    const reset = lowered.map(({ installation, action }) => ({ installation, action }));
    await context.result({ reset }, () =>
      reset.length === 0 ? 'No budget is blocked or lowered.' : `${count(reset.length, 'budget')} reset.`,
    );
    return 0;
  });
}
