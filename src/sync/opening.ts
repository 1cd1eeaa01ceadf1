import { walkOnce } from './finished.ts';
import { type PullContext, pullChanged } from './pull.ts';
import { walkChanged } from './streams.ts';

/** The opening asks one question; what else there is to ask is the pull's. */
class OneQuestion extends Error {}

/**
 * A window's first question, whose answer tells that the source is there and lets us in; gives that answer's source time. It is
 * the question that the pull of the invoices begins with, kept as any page of a walk is, so that this pull goes on after it,
 * or finds it done: an idle window asks it once. `fromDate` is a backfill's.
 */
export async function openWithInvoices(context: PullContext, fromDate: string | null): Promise<Date> {
  const answered: { at: Date | null } = { at: null };
  const client: PullContext['client'] = {
    async list(...question) {
      if (answered.at !== null) throw new OneQuestion();
      const answer = await context.client.list(...question);
      answered.at = answer.sourceTime;
      return answer;
    },
  };
  try {
    if (context.owner === 'window') await walkChanged({ ...context, client }, 'invoice');
    else await walkInvoices({ ...context, client }, fromDate);
  } catch (error) {
    if (!(error instanceof OneQuestion)) throw error;
  }
  if (answered.at !== null) return answered.at;
  // A stopped backfill had done its invoices.
  return (await context.client.list('invoice', {}, null, { priority: context.priority })).sourceTime;
}

/** A backfill's invoices: all of them, or those dated from a day on. */
export function walkInvoices(context: PullContext, fromDate: string | null) {
  return walkOnce(context, 'invoice', fromDate ?? '', () => pullChanged(context, 'invoice', null, fromDate));
}
