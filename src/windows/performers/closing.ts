import { z } from 'zod';
import type { AskedAction } from '../../actions/asking.ts';
import { UserError } from '../../domain/errors.ts';
import {
  type AgreedClose,
  closeAsShown,
  closeRequest,
  reopenAsShown,
  reopenRequest,
} from '../../queries/close-books.ts';
import { fileReturn, vatPeriodOfMonth } from '../../queries/vat-returns.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { Perform, PerformPorts } from './performer.ts';

const filingRequest = z.object({ month: z.string(), correction: z.boolean() });

export const performClose: Perform = async (trx, installation, action, ports) => {
  const { through } = closeRequest.parse(action.input);
  await closeAsShown(trx, installation, { through, ...agreedTo(action, ports) }, ports);
};

export const performReopening: Perform = async (trx, installation, action, ports) => {
  const { from } = reopenRequest.parse(action.input);
  await reopenAsShown(trx, installation, { from, ...agreedTo(action, ports) }, ports);
};

export const performFiling: Perform = async (trx, installation, { id, subject, reason, input, shownHash: shown }) => {
  const { month, correction } = filingRequest.parse(input);
  const period = await vatPeriodOfMonth(trx, installation, month);
  const by = { actedBy: subject, reason, asked: { id } };
  await fileReturn(trx, installation, period, { isCorrection: correction, take: null }, { shown, by });
};

/** Throws UserError if the configuration requires a second person, and no one approved the request. */
function agreedTo(
  { id, subject: actedBy, reason, shownHash: shown, second }: AskedAction,
  { config: { twoPersons } }: PerformPorts,
): AgreedClose {
  if (twoPersons && second === null) throw new UserError(actionErrors.noSecond(), 1);
  return { by: { actedBy, reason, asked: { id } }, second, shown };
}
