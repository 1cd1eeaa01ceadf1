import { userInfo } from 'node:os';
import { usageError } from './context.ts';

/** Who does something that is recorded, and why. Throws ConfigError where one of them is empty. */
export function actedBy(
  options: { reason: string; by?: string },
  command: string,
): { actedBy: string; reason: string } {
  const [reason, by] = [options.reason.trim(), (options.by ?? accountName()).trim()];
  if (reason === '') throw usageError('--reason is empty; say why.', command);
  if (by === '') throw usageError('--by is empty; say who answers for it.', command);
  return { actedBy: by, reason };
}

/** The user of the operating system; some containers' users have no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
