import { userInfo } from 'node:os';
import type { ActedBy } from '../actions/record.ts';
import { ConfigError } from '../domain/errors.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { commandErrors } from '../texts/errors/commands.ts';
import { type CommandContext, usageError } from './context.ts';

/** The person and the reason of a recorded action. Throws ConfigError if one of them is empty. */
export function actedBy(options: { reason: string; by?: string }, command: string): ActedBy {
  const [reason, by] = [options.reason.trim(), (options.by ?? accountName()).trim()];
  if (reason === '') throw usageError(usageTexts.reasonEmpty, command);
  if (by === '') throw usageError(usageTexts.byEmpty, command);
  return { actedBy: by, reason };
}

/**
 * The responsible person and the second person. Throws ConfigError if a name is empty, if both are the same, or if the
 * configuration requires a second person and none is named.
 */
export function personsOf(
  options: { by?: string; second?: string },
  { twoPersons }: { twoPersons: boolean },
  command: string,
): { by: string; second: string | null } {
  const by = (options.by ?? accountName()).trim();
  const second = options.second?.trim() ?? null;
  if (by === '') throw usageError(usageTexts.byEmpty, command);
  if (second === '') throw usageError(usageTexts.secondEmpty, command);
  if (second === null && twoPersons) {
    throw new ConfigError(commandErrors.secondPersonMissing());
  }
  if (second !== null && second.toLowerCase() === by.toLowerCase()) {
    throw new ConfigError(commandErrors.secondPersonIsFirst({ by }));
  }
  return { by, second };
}

/** Asks for confirmation, unless --yes is given. Throws the error for wrong usage if there is no terminal. */
export async function agreed(
  context: CommandContext,
  { yes }: { yes?: true },
  question: string,
  command: string,
): Promise<boolean> {
  if (yes === true) return true;
  const answer = await context.confirm(question);
  if (answer === null) throw usageError(usageTexts.noTerminal, command);
  return answer;
}

/** The name of the operating system's user, or its number: in some containers the user has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
