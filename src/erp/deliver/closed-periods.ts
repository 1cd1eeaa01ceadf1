import type { CalendarDate } from '../../terms.ts';
import { obstacleOf, storedPeriods, storePeriods } from '../periods.ts';
import type { ErpPeriods } from '../port.ts';
import type { RequestContext, Requests } from './delivery-requests.ts';

/** How long to wait for the ERP if stored periods can be used instead. */
const answerWithinMs = 10_000;

/**
 * The ERP's periods, for entries of these dates. If the ERP refuses entries in closed periods, recently stored periods
 * are used. If it does not answer in time, older ones are used too. Stored periods never cause a refusal without a new
 * query. Other ERPs, which would accept such an entry or move its date, are queried each time. Throws Stopped.
 */
export async function periodsFor(
  to: Pick<RequestContext, 'db' | 'lease' | 'target'>,
  requests: Requests,
  dates: readonly CalendarDate[],
): Promise<ErpPeriods> {
  const { db, lease, target } = to;
  const stored = target.capabilities.periods.on_locked === 'refused' ? await storedPeriods(db, lease.company) : null;
  if (stored?.isRecent && dates.every((date) => obstacleOf(stored.periods, date) === null)) return stored.periods;
  const read = await readPeriods(to, requests, stored === null ? null : answerWithinMs);
  return read ?? stored?.periods ?? { periods: null, lockedThrough: [] };
}

/** Queries the ERP's periods and stores them. Null if the ERP does not answer within `withinMs`. Throws Stopped. */
export async function readPeriods(
  { db, lease, target }: Pick<RequestContext, 'db' | 'lease' | 'target'>,
  requests: Requests,
  withinMs: number | null,
): Promise<ErpPeriods | null> {
  const read =
    withinMs === null
      ? await requests.ask((request) => target.periods(request))
      : await requests.askWithin(withinMs, (request) => target.periods(request));
  if (read !== null) await storePeriods(db, lease.company, read);
  return read;
}
