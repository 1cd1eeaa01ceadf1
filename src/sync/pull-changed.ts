import { readTraits } from './capabilities/list-traits.ts';
import type { PullContext, PullResult } from './context.ts';
import { type PullOptions, pullList } from './pull-list.ts';
import { sinceTimestamp, type TimestampStyle } from './walk/timestamps.ts';

/**
 * Pulls the invoices, prepayments or rows that have changed since an instant, or all if it is null. The caller has
 * subtracted the overlap. `invoicedFrom` limits invoices to those dated from that day on.
 */
export async function pullChanged(
  context: PullContext,
  kind: 'invoice' | 'prepayment' | 'row',
  since: Date | null,
  { invoicedFrom = null, ...options }: { invoicedFrom?: string | null } & PullOptions = {},
): Promise<PullResult> {
  const { db, installation, dialect } = context;
  const traits = options.traits ?? (await readTraits(db, installation, dialect))[kind];
  const changed = since === null ? {} : changedSinceFilter(context, since, traits.style);
  const dated = kind === 'invoice' && invoicedFrom !== null ? { invoice_date__gte: invoicedFrom } : {};
  return pullList(context, kind, { ...changed, ...dated }, null, { ...options, traits });
}

/** The filter for records changed since an instant, in the server's style of timestamps. */
export function changedSinceFilter(
  { naiveTimesAreLocal, timezone }: Pick<PullContext, 'naiveTimesAreLocal' | 'timezone'>,
  since: Date,
  style: TimestampStyle,
): Record<string, string> {
  return { modified__gte: sinceTimestamp(since, style, naiveTimesAreLocal ? [timezone] : [timezone, 'UTC']) };
}
