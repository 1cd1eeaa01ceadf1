import { adoptIdentity, type IdentityChange, identityChanges, requireAdoptable } from '../../bookkeeping/identity.ts';
import { ConfigError } from '../../domain/errors.ts';
import { installationOf } from '../../runtime/app.ts';
import { actedBy } from '../acting.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

export interface AdoptOptions {
  installation?: number;
  reason: string;
  by?: string;
  yes?: true;
}

/** Takes a changed time zone or practice API address into the books; without --yes only says what would change. */
export function adopt(context: CommandContext, options: AdoptOptions): Promise<number> {
  const { installation: id } = options;
  if (id === undefined) throw usageError('Give --installation ID, --restored or --copy.', 'adopt');
  const { reason, actedBy: by } = actedBy(options, 'adopt');
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installation = installationOf(config, id);
    const found = await identityChanges(db, installation);
    requireAdoptable(installation, found);
    if (found.length > 0 && options.yes !== true) {
      throw new ConfigError(
        'not_confirmed',
        `Nothing was adopted. With --yes it would be, for installation ${installation.id}: ${found.map(changeText).join('; ')}.`,
        'If this is still the same clinic, run it again with --yes.',
      );
    }
    const adopted = found.length === 0 ? [] : await adoptIdentity(db, installation, { reason, by });
    const document = { installation: installation.id, adopted, ...(adopted.length > 0 ? { reason, by } : {}) };
    await context.result(document, () =>
      adopted.length === 0
        ? `Nothing to adopt: the configuration of installation ${installation.id} agrees with its books.`
        : `Adopted for installation ${installation.id}, by ${by}: ${adopted.map(changeText).join('; ')}.`,
    );
    return 0;
  });
}

function changeText(change: IdentityChange): string {
  return `${change.what} ${change.old} -> ${change.new}`;
}
