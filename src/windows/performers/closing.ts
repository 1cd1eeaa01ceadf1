import { type AskedAction, askedBy } from '../../actions/asking.ts';
import { UserError } from '../../domain/errors.ts';
import {
  type AgreedClose,
  closeAsShown,
  closeRequest,
  reopenAsShown,
  reopenRequest,
} from '../../queries/close-books.ts';
import { fileReturn, filingRequest, vatPeriodOfMonth } from '../../queries/vat-returns.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { Perform, PerformPorts } from './performer.ts';

export const performClose: Perform = async (trx, installation, action, ports) => {
  const { through } = closeRequest.parse(action.input);
  await closeAsShown(trx, installation, { through, ...agreedTo(action, ports) }, ports);
};

export const performReopening: Perform = async (trx, installation, action, ports) => {
  const { from } = reopenRequest.parse(action.input);
  await reopenAsShown(trx, installation, { from, ...agreedTo(action, ports) }, ports);
};

export const performFiling: Perform = async (trx, installation, action) => {
  const { month, correction } = filingRequest.parse(action.input);
  const period = await vatPeriodOfMonth(trx, installation, month);
  await fileReturn(
    trx,
    installation,
    period,
    { isCorrection: correction, take: null },
    {
      ...{ shown: action.shownHash, by: askedBy(action) },
    },
  );
};

/** Throws UserError if the configuration requires a second person, and no one approved the request. */
function agreedTo(action: AskedAction, { config: { twoPersons } }: PerformPorts): AgreedClose {
  const { shownHash: shown, second } = action;
  if (twoPersons && second === null) throw new UserError(actionErrors.noSecond(), 1);
  return { by: askedBy(action), second, shown };
}
