import { z } from 'zod';
import { type AskedAction, askedBy, requestDay } from '../actions/asking.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { lateDecisions } from '../posting/types.ts';
import { documentKinds } from '../terms.ts';
import { decisionsFor } from './decide-late.ts';
import { decideChoice, type LateSelection } from './decide-many.ts';

/** The largest number of documents that one request of the console names. */
export const documentsPerRequest = 500;

const decimal = z.string().regex(/^\d{1,12}(\.\d{1,4})?$/);

/** The request of a decision about late documents, as an asked action stores it: named documents, or all that a filter selects. */
export const lateRequest = z
  .object({
    decision: z.enum(lateDecisions),
    documents: z
      .array(z.strictObject({ kind: z.enum(documentKinds), id: z.int().positive() }))
      .min(1)
      .max(documentsPerRequest)
      .optional(),
    filter: z
      .strictObject({
        code: z
          .string()
          .refine((code) => Object.hasOwn(decisionsFor, code))
          .optional(),
        kind: z.enum(documentKinds).optional(),
        from: requestDay.optional(),
        to: requestDay.optional(),
        account: z
          .string()
          .regex(/^[\w.-]{1,40}$/)
          .optional(),
        department: z.int().positive().optional(),
        least: decimal.optional(),
        most: decimal.optional(),
      })
      .optional(),
  })
  .refine(({ documents, filter }) => (documents === undefined) !== (filter === undefined));
export type LateRequest = z.infer<typeof lateRequest>;

/** The documents of a request, for `weighChoice`. */
export function selectionOf({ id }: InstallationConfig, { documents, filter }: LateRequest): LateSelection {
  if (documents !== undefined) return { named: new Map([[id, documents]]) };
  const { least, most, ...others } = filter ?? {};
  const amount = {
    ...(least === undefined ? {} : { least: new Money(least) }),
    ...(most === undefined ? {} : { most: new Money(most) }),
  };
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return { filter: { ...Object.fromEntries(given), ...(Object.keys(amount).length === 0 ? {} : { amount }) } };
}

/**
 * Performs an asked decision in the transaction of the caller. Throws UserError if the decision is not possible, or if its effects
 * differ from those that the person saw.
 */
export async function performDecision(
  trx: Connection,
  installation: InstallationConfig,
  action: AskedAction,
  { clock }: { clock(): Date },
): Promise<void> {
  const { input, shownHash: shown } = action;
  const request = lateRequest.parse(input);
  const { decision } = request;
  const deciding = { decision, ...askedBy(action) };
  await decideChoice(trx, [installation], selectionOf(installation, request), deciding, { clock, shown: shown ?? '' });
}
