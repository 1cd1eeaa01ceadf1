import { z } from 'zod';
import type { Connection } from '../db/rows.ts';
import type { Money } from '../domain/money.ts';
import { unexplained } from './changes-of-prepayments.ts';
import { checkMatch } from './decide.ts';
import { type KnownMatch, matchOfPayment } from './matches.ts';
import type { Followed } from './seen-uses.ts';

/** The request of a match, as an asked action stores it. Without prepayments, the match is removed. */
export const matchRequest = z.object({
  payment: z.int().positive(),
  prepayments: z
    .array(z.int().positive())
    .max(20)
    .refine((ids) => new Set(ids).size === ids.length),
});
export type MatchRequest = z.infer<typeof matchRequest>;

/** A match before it is set. */
export interface WeighedMatch {
  amount: Money;
  present: KnownMatch[];
  /** The chosen prepayments, with the unexplained drop of each. */
  chosen: { prepayment: number; client: number | null; left: Money }[];
}

/** The figures of a match, without writing anything. Throws UserError if the match is not possible. */
export async function weighMatch(
  db: Connection,
  { id, dialect }: Followed,
  { payment, prepayments }: MatchRequest,
): Promise<WeighedMatch> {
  const { amount } = await checkMatch(db, id, { payment, prepayments });
  const found = await unexplained(db, id, 'prepayment_id', prepayments, dialect.prepayment.refund_lowers_unused_amount);
  return {
    amount,
    present: await matchOfPayment(db, id, payment),
    chosen: found.map(({ id: prepayment, clientId: client, amount: left }) => ({ prepayment, client, left })),
  };
}

/** The figures as canonical text, for the hash of what a person saw. */
export function shownMatch({ payment, prepayments }: MatchRequest, { amount, present, chosen }: WeighedMatch): string {
  return JSON.stringify([
    ...[payment, prepayments, amount.toFixed()],
    present.map(({ prepaymentId, amount: of, state }) => [prepaymentId, of.toFixed(), state]),
    chosen.map(({ prepayment, client, left }) => [prepayment, client, left.toFixed()]),
  ]);
}
