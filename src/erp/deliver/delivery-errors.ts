import { redact } from '../../domain/redact.ts';
import { clip, visible } from '../../domain/text.ts';
import { deliveryErrors } from '../../texts/errors/deliveries.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { loginProblem } from '../login/login-problems.ts';
import type { CompanyRef, ErpError } from '../port.ts';

const longestMessage = 500;

/** The error that operators see when an ErpError stops the whole delivery. */
export function plainErrorOf(error: ErpError, { kind, url }: CompanyRef): PlainError {
  const reason = clip(visible(redact(error.message, longestMessage)), longestMessage);
  const erp = `${kind} at ${url}`;
  if (error.problem === 'erp_limit_spent' || error.problem === 'erp_errors_spent') {
    return deliveryErrors.limitSpent({ code: error.problem, reason });
  }
  switch (error.means) {
    case 'auth':
      return loginProblem(error, { erp, reason }) ?? deliveryErrors.loginRefused({ erp, reason });
    case 'throttled':
      return deliveryErrors.throttled({ erp, reason });
    case 'locked':
      return deliveryErrors.locked({ erp, reason });
    case 'unsent':
      return deliveryErrors.unreachable({ erp, reason });
    case 'refused':
    case 'duplicate':
    case 'repeated':
      return deliveryErrors.refused({ code: error.problem ?? 'erp_refused', erp, reason });
    case 'doubt':
      return error.problem === null
        ? deliveryErrors.noAnswer({ erp, reason })
        : deliveryErrors.errorUnknown({ erp, reason });
  }
}
