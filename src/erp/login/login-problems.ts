import { loginErrors } from '../../texts/errors/erp-login.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import type { ErpError } from '../port.ts';

/** Problems of an ErpError that a stored login causes. */
export const loginNeededProblem = 'erp_login_needed';
export const loginUnreadableProblem = 'erp_login_unreadable';

/** The error for operators if the stored login cannot be used; null for any other error. `reason`: the message to show. */
export function loginProblem(
  { problem }: ErpError,
  { erp, reason }: { erp: string; reason: string },
): PlainError | null {
  if (problem === loginNeededProblem) return loginErrors.needed({ erp, reason });
  if (problem === loginUnreadableProblem) return loginErrors.unreadable({ erp, reason });
  return null;
}

/** What to do about an error that a stored login causes; null for any other error. */
export function loginTodo(error: ErpError): string | null {
  return loginProblem(error, { erp: '', reason: '' })?.todo ?? null;
}
