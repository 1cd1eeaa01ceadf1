import { z } from 'zod';
import { actionState, requestDay } from '../actions/asking.ts';
import { hashOfEffect } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { leftOutText, planReplay, type ReplayChoice } from '../sync/replay/plan.ts';
import type { Span } from '../sync/replay/spans.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The requests about windows that users make in the console. The price of a reading needs the source. So it is an action whose result
 * is stored, and the reading is asked for with the number of this action.
 */

/** What to read again: failed windows, named windows, times, or everything from an invoice date on. */
export const readingRequest = z.discriminatedUnion('read', [
  z.object({ read: z.literal('failed') }),
  z.object({ read: z.literal('windows'), windows: z.array(z.int().positive()).min(1).max(50) }),
  z
    .object({ read: z.literal('times'), from: z.iso.datetime(), to: z.iso.datetime() })
    .refine(({ from, to }) => from < to),
  z.object({ read: z.literal('backfill'), from: requestDay.nullable() }),
]);
export type ReadingRequest = z.infer<typeof readingRequest>;

export const pricedRequest = z.object({ price: z.int().positive() });
export const cancelRequest = z.object({
  runs: z.array(z.object({ kind: z.string(), workflowId: z.string(), runId: z.string() })),
});
export const nudgeRequest = z.object({});

/** The cost of a reading, by the rate budgets alone. */
const readingCost = z.object({
  records: z.object({ invoice: z.number(), row: z.number(), payment: z.number(), prepayment: z.number() }),
  lists: z.array(z.object({ action: z.string(), requests: z.number(), weight: z.number() })),
  requests: z.number(),
  weight: z.number(),
  seconds: z.number(),
  remarks: z.array(z.string()),
});
export type ReadingCost = z.infer<typeof readingCost>;

/** The result of pricing. `cost` is null if the source did not answer. */
export const priceResult = z.object({ plan: z.string(), cost: readingCost.nullable() });
export type PriceResult = z.infer<typeof priceResult>;

/** The workflow that performs an action. */
export const startedResult = z.object({ workflow: z.string(), run: z.string() });
export type StartedRun = z.infer<typeof startedResult>;

export interface PlannedReading {
  spans: Span[];
  /** Failed windows that cannot be read again, with the reason. */
  leftOut: string[];
  /** The hash of what is read. It changes if a window was covered meanwhile. */
  plan: string;
}

/** The intervals that a reading reads again; none for a backfill. Throws UserError if a window cannot be read again. */
export async function planReading(
  db: Connection,
  { id, overlapSeconds }: Pick<InstallationConfig, 'id' | 'overlapSeconds'>,
  request: ReadingRequest,
  now: Date,
): Promise<PlannedReading> {
  if (request.read === 'backfill') return { spans: [], leftOut: [], plan: hashOfEffect(request) };
  const options = { overlapMs: overlapSeconds * 1000, now };
  const { spans, leftOut } = await planReplay(db, id, choiceOf(request), options);
  // The upper ids of payments become known only after later windows, so they are no part of the plan that a person sees.
  const read = spans.map(({ windows, invoice, prepayment, row }) => [windows, invoice, prepayment, row]);
  return { spans, leftOut: leftOut.map(leftOutText), plan: hashOfEffect([request, read]) };
}

function choiceOf(request: Exclude<ReadingRequest, { read: 'backfill' }>): ReplayChoice {
  switch (request.read) {
    case 'failed':
      return { by: 'failed' };
    case 'windows':
      return { by: 'windows', windows: request.windows };
    case 'times':
      return { by: 'times', from: new Date(request.from), to: new Date(request.to) };
  }
}

export interface Priced {
  request: ReadingRequest;
  result: PriceResult;
}

/** What was priced by an action, and its price. Null if the action is another one, or is not done. */
export async function pricedBy(db: Connection, installation: InstallationId, price: number): Promise<Priced | null> {
  const found = await actionState(db, installation, price);
  if (found === null || found.action.kind !== 'price_windows' || found.outcome.state !== 'done') return null;
  const request = readingRequest.safeParse(found.action.input);
  const result = priceResult.safeParse(found.result);
  return request.success && result.success ? { request: request.data, result: result.data } : null;
}
