import { askedBy } from '../../actions/asking.ts';
import { type ActedBy, checkShown, hashOf } from '../../actions/record.ts';
import type { Connection } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import { type Pauses, pausesNow, shownPause } from '../../queries/pauses.ts';
import type { InstallationId } from '../../terms.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { Perform } from './performer.ts';

/** Pauses or resumes windows or delivery. The watch sets the Schedules from the state. */
export function changePause(
  what: keyof Pauses,
  change: (trx: Connection, installation: InstallationId, by: ActedBy) => Promise<boolean>,
): Perform {
  return async (trx, installation, action) => {
    const { [what]: present } = await pausesNow(trx, installation);
    if (present === undefined) throw new UserError(actionErrors.noEffect(), 1);
    checkShown(action.shownHash, hashOf(shownPause(present)));
    await change(trx, installation.id, askedBy(action));
  };
}
