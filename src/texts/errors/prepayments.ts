import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const refused = (message: string, todo: string): PlainError => ({ code: 'match_refused', message, todo });

/** The reason why `problems match` refuses a payment or a prepayment. */
export const matchErrors = catalogue('errors/prepayments.matchErrors', {
  paymentUnknown: ({ payment, installation }: { payment: number; installation: number }) =>
    refused(
      `Payment ${payment} of installation ${installation} is not stored as a payment from a prepayment (type 8).`,
      'Use the id of a payment that `vetledger reconcile` lists with prepayment_unmatched.',
    ),
  paymentIsCancellation: ({ payment }: { payment: number }) =>
    refused(
      `Payment ${payment} cancels an earlier payment, and always has the match of that payment.`,
      'Match the earlier payment instead.',
    ),
  prepaymentUnknown: ({ prepayment, installation }: { prepayment: number; installation: number }) =>
    refused(
      `Prepayment ${prepayment} of installation ${installation} is not stored as a prepayment that can be used.`,
      'Check the id in the practice software. A refund cannot be used.',
    ),
  severalClients: () =>
    refused(
      'The prepayments belong to several clients, but a payment uses those of one client.',
      'Name prepayments of one client.',
    ),
});
