import type { PlainError } from '../plain-error.ts';

/** Why nothing is delivered to the ERP. */
export const deliveryErrors = {
  paused: ({ installation, by, reason }: { installation: number; by: string; reason: string }): PlainError => ({
    code: 'delivery_paused',
    message: `The delivery of installation ${installation} was paused by ${by}: ${reason}`,
    todo: 'To continue, run `vetledger deliver resume`.',
  }),
};
