import type { ReadSpan } from '../domain/read-at.ts';
import type { ListAnswer } from '../practice/client.ts';
import type { PullContext, PullResult } from './context.ts';
import { pullChanged } from './pull-changed.ts';
import { pullSpan } from './replay/pull.ts';
import type { Span } from './replay/spans.ts';
import { walkOnce } from './saved-walks.ts';
import { type KnownState, walkChanged } from './streams.ts';

/** The times of a window's first answer. */
export type Opening = ReadSpan & Pick<ListAnswer, 'sourceTimeAtMost' | 'clock'>;

function openingOf({ sourceTime, sourceTimeAtMost, askedAt, answeredAt, clock }: ListAnswer): Opening {
  return { sourceTime, sourceTimeAtMost, askedAt, answeredAt, clock };
}

/** Stops the opening's pull after the first request. */
class FirstAnswerReceived extends Error {}

/**
 * Sends a window's first request, whose answer shows that the source can be reached and accepts our token. Returns the
 * times of the answer.
 *
 * It is the first request of the invoices' pull, and its page is saved like any other of that walk. The pull continues
 * after it, or is already complete, so that an idle window sends the request only once. `fromDate` is the first invoice
 * date of a backfill. `span` is what a replay reads. `known` is the state that a live window has read, and is updated
 * by the walk.
 */
export async function openWithInvoices(
  context: PullContext,
  fromDate: string | null,
  { span, known }: { span?: Span | undefined; known?: KnownState | undefined } = {},
): Promise<Opening> {
  const answered: { first: Opening | null } = { first: null };
  const client: PullContext['client'] = {
    async list(...request) {
      if (answered.first !== null) throw new FirstAnswerReceived();
      const answer = await context.client.list(...request);
      answered.first = openingOf(answer);
      return answer;
    },
  };
  try {
    if (span) await pullSpan({ ...context, client }, 'invoice', span);
    else if (context.owner === 'window') await walkChanged({ ...context, client }, 'invoice', null, known);
    else await walkInvoices({ ...context, client }, fromDate);
  } catch (error) {
    if (!(error instanceof FirstAnswerReceived)) throw error;
  }
  if (answered.first !== null) return answered.first;
  // No request was sent: an interrupted backfill had already read all its invoices.
  return openingOf(await context.client.list('invoice', {}, null, { priority: context.priority }));
}

/** Pulls a backfill's invoices: all, or those dated from a day on. */
export function walkInvoices(context: PullContext, fromDate: string | null): Promise<PullResult> {
  return walkOnce(context, 'invoice', fromDate ?? '', (left) =>
    pullChanged(context, 'invoice', null, { invoicedFrom: fromDate, left }),
  );
}
