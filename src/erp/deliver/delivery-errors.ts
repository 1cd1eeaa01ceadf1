import { redact } from '../../domain/redact.ts';
import { clip, visible } from '../../domain/text.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import type { CompanyRef, ErpError } from '../port.ts';

const longestMessage = 500;

/** What ops are told of an error that keeps everything from being sent. */
export function plainErrorOf(error: ErpError, { kind, url }: CompanyRef): PlainError {
  const said = clip(visible(redact(error.message, longestMessage)), longestMessage);
  const where = `${kind} at ${url}`;
  if (error.problem === 'erp_limit_spent' || error.problem === 'erp_errors_spent') {
    return {
      code: error.problem,
      message: said,
      todo: 'Nothing: delivery goes on by itself when the ERP’s limit allows it.',
    };
  }
  switch (error.means) {
    case 'auth':
      return {
        code: 'erp_login_refused',
        message: `${where} refuses the credentials or rights of the API user: ${said}`,
        todo: 'Correct user, password or rights; `vetledger erp check` tells which. Delivery goes on by itself.',
      };
    case 'throttled':
      return {
        code: 'erp_throttled',
        message: `${where} takes no more requests now: ${said}`,
        todo: 'Nothing: delivery goes on by itself.',
      };
    case 'locked':
      return {
        code: 'erp_locked',
        message: `${where} is locked: ${said}`,
        todo: 'Nothing: delivery goes on by itself.',
      };
    case 'unsent':
      return {
        code: 'erp_unreachable',
        message: `${where} cannot be reached: ${said}`,
        todo: 'Start it, or correct erp.url. Delivery goes on by itself.',
      };
    case 'refused':
    case 'duplicate':
      return {
        code: error.problem ?? 'erp_refused',
        message: `${where} refuses what it is asked: ${said}`,
        todo: 'Run `vetledger erp check`; it tells what is missing. Delivery goes on by itself.',
      };
    case 'doubt':
      return error.problem === null
        ? {
            code: 'erp_no_answer',
            message: `${where} does not answer: ${said}`,
            todo: 'Nothing, usually: what was sent is looked up, and delivery goes on by itself.',
          }
        : {
            code: 'erp_error_unknown',
            message: `${where} answers with an error that is not known: ${said}`,
            todo: 'Look into the log of the ERP. What was sent is looked up, and delivery goes on by itself.',
          };
  }
}
