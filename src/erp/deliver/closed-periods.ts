import type { CalendarDate } from '../../terms.ts';
import { obstacleOf, storedPeriods, storePeriods } from '../periods.ts';
import type { ErpPeriods } from '../port.ts';
import type { RequestContext, Requests } from './delivery-requests.ts';

/** An ERP whose stored periods may serve is waited for so long. */
const answerWithinMs = 10_000;

/**
 * The ERP's periods, for entries of these dates. Where the ERP itself refuses what is dated in a closed period, those stored lately
 * serve, and older ones where it does not answer in time; no entry is refused by stored ones without asking. Any other ERP, which
 * would take the entry in a closed period or move it, is asked each time. Throws Stopped.
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

/** Asks the ERP for its periods and stores them; null where it does not answer within `withinMs`. Throws Stopped. */
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
