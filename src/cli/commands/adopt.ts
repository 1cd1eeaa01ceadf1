import { adoptIdentity, type IdentityChange, identityChanges, requireAdoptable } from '../../bookkeeping/identity.ts';
import { isDelivered } from '../../config/erp.ts';
import { ConfigError } from '../../domain/errors.ts';
import { adoptEntries } from '../../erp/claims/adopt.ts';
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

/**
 * Takes a changed time zone or practice API address into the books, and another database's entries in the ERP; without --yes only says
 * what would change.
 */
export function adopt(context: CommandContext, options: AdoptOptions): Promise<number> {
  const { installation: id } = options;
  if (id === undefined) throw usageError('Give --installation ID, --restored or --copy.', 'adopt');
  const { reason, actedBy: by } = actedBy(options, 'adopt');
  return withApp(context, { temporal: false, handlesSignal: true }, async ({ db, databaseId, delivery, config }) => {
    const installation = installationOf(config, id);
    const found = await identityChanges(db, installation);
    requireAdoptable(installation, found);
    const foreign = isDelivered(installation.erp) ? await delivery.foreign(installation, context.signal) : null;
    const told = [...found.map(changeText), ...(foreign === null ? [] : [foreign.message])];
    if (told.length > 0 && options.yes !== true) {
      throw new ConfigError(
        'not_confirmed',
        `Nothing was adopted. With --yes it would be, for installation ${installation.id}: ${told.join('; ')}.`,
        foreign === null
          ? 'If this is still the same clinic, run it again with --yes.'
          : 'If the other vetledger is stopped for good and its entries stand, run it again with --yes.',
      );
    }
    const adopted = found.length === 0 ? [] : await adoptIdentity(db, installation, { reason, by });
    const entries =
      foreign === null ? null : await adoptEntries({ db, databaseId }, installation, { actedBy: by, reason });
    const document = {
      installation: installation.id,
      adopted,
      ...(entries === null ? {} : { erp_entries: entries }),
      ...(told.length > 0 ? { reason, by } : {}),
    };
    await context.result(document, () =>
      told.length === 0
        ? `Nothing to adopt: the configuration of installation ${installation.id} agrees with its books, and no other database's entries are known in its ERP.`
        : [
            `Adopted for installation ${installation.id}, by ${by}: ${told.join('; ')}.`,
            ...(entries === null ? [] : [adoptedText]),
          ].join('\n'),
    );
    return 0;
  });
}

const adoptedText =
  'Delivery goes on within five minutes, or with `vetledger deliver`. An adopted entry stands for ours of the same id: it is compared, and ours is not sent. What differs is told by `vetledger problems`.';

function changeText(change: IdentityChange): string {
  return `${change.what} ${change.old} -> ${change.new}`;
}
