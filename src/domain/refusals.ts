import { refusalErrors } from '../texts/errors/refusals.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { codeOf } from './errors.ts';

/** The keys are SQLSTATEs or error codes of the operating system. */
const refusals: ReadonlyMap<string, ({ code }: { code: string }) => PlainError> = new Map([
  ['53100', refusalErrors.databaseDiskFull],
  ['ENOSPC', refusalErrors.machineDiskFull],
  ['EDQUOT', refusalErrors.machineDiskFull],
  ['25006', refusalErrors.readOnly],
  ['53300', refusalErrors.noConnections],
]);

/**
 * The user's error for a refusal of PostgreSQL or a disk that stops all work until the operator fixes it. Null for all
 * other errors.
 */
export function causeOfRefusal(error: unknown): PlainError | null {
  const code = codeOf(error) ?? '';
  const found = refusals.get(code);
  if (found) return found({ code });
  return error instanceof Error && error.cause !== undefined ? causeOfRefusal(error.cause) : null;
}
