import { toUserError } from '../../runtime/user-errors.ts';

/** The result of one of doctor's checks. */
export interface Check {
  /** The checked installation. Null if the check concerns all installations. */
  installation: number | null;
  check: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  todo: string | null;
  /** A service cannot be reached, or refuses the credentials: exit code 3. It is not part of the output. */
  unreachable?: true;
}

export function passed(installation: number | null, check: string, message: string): Check {
  return { installation, check, status: 'ok', message, todo: null };
}

/** The failed check of a step that threw `error`. */
export function failure(installation: number | null, check: string, error: unknown): Check {
  const { message, todo, exitCode } = toUserError(error);
  return { installation, check, status: 'fail', message, todo, ...(exitCode === 3 ? { unreachable: true } : {}) };
}
