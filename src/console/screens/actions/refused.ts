import { UserError } from '../../../domain/errors.ts';
import type { PlainError } from '../../../texts/plain-error.ts';

/** The reason why an action is not possible, in place of its effect. */
export interface Refused {
  refused: PlainError;
}

/** The result of `work`, or the UserError that it throws as data. */
export async function orRefused<Result>(work: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, todo } = error;
    return { refused: { code, message, todo } };
  }
}
