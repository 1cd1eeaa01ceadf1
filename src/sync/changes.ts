import { readTimestampStyle } from './capabilities/server.ts';
import type { PullContext, PullResult } from './context.ts';
import { pullList } from './pull-list.ts';
import { sinceTimestamp } from './walk/timestamps.ts';

/**
 * Pulls the invoices or prepayments that have changed since an instant, or all of them when it is null. The caller subtracts
 * the overlap. `invoicedFrom` limits invoices to those dated from that day on.
 */
export async function pullChanged(
  context: PullContext,
  kind: 'invoice' | 'prepayment',
  since: Date | null,
  invoicedFrom: string | null = null,
): Promise<PullResult> {
  const changed = since === null ? {} : await changedSinceFilter(context, since);
  const dated = kind === 'invoice' && invoicedFrom !== null ? { invoice_date__gte: invoicedFrom } : {};
  return pullList(context, kind, { ...changed, ...dated }, null);
}

/** The filter for records changed since an instant, in the server's own style of timestamps. */
export async function changedSinceFilter(
  {
    db,
    installation,
    naiveTimesAreLocal,
    timezone,
  }: Pick<PullContext, 'db' | 'installation' | 'naiveTimesAreLocal' | 'timezone'>,
  since: Date,
): Promise<Record<string, string>> {
  const style = await readTimestampStyle(db, installation);
  return { modified__gte: sinceTimestamp(since, style, naiveTimesAreLocal ? [timezone] : [timezone, 'UTC']) };
}
