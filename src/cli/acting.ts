import { userInfo } from 'node:os';
import type { ActedBy } from '../actions/record.ts';
import { ConfigError } from '../domain/errors.ts';
import { type CommandContext, usageError } from './context.ts';

/** Who does something that is recorded, and why. Throws ConfigError where one of them is empty. */
export function actedBy(options: { reason: string; by?: string }, command: string): ActedBy {
  const [reason, by] = [options.reason.trim(), (options.by ?? accountName()).trim()];
  if (reason === '') throw usageError('--reason is empty; say why.', command);
  if (by === '') throw usageError('--by is empty; say who answers for it.', command);
  return { actedBy: by, reason };
}

/**
 * Who does something that may need two: the one who answers for it, and the second person. Throws ConfigError where a name is
 * empty, the second one lacks, or both are the same.
 */
export function personsOf(
  options: { by?: string; second?: string },
  { twoPersons }: { twoPersons: boolean },
  command: string,
): { by: string; second: string | null } {
  const by = (options.by ?? accountName()).trim();
  const second = options.second?.trim() ?? null;
  if (by === '') throw usageError('--by is empty; say who answers for it.', command);
  if (second === '') throw usageError('--second is empty; name the second person.', command);
  if (second === null && twoPersons) {
    throw new ConfigError({
      code: 'second_person_needed',
      message: 'The configuration asks for two persons (`two_persons`), and only one is named.',
      todo: 'Name the other one with --second NAME.',
    });
  }
  if (second !== null && second.toLowerCase() === by.toLowerCase()) {
    throw new ConfigError({
      code: 'second_person_needed',
      message: `The second person is the first one: ${by}.`,
      todo: 'Name another one with --second NAME.',
    });
  }
  return { by, second };
}

/** Asks before something is done, unless --yes was given. Throws the error of wrong usage where there is no terminal to ask on. */
export async function agreed(
  context: CommandContext,
  { yes }: { yes?: true },
  question: string,
  command: string,
): Promise<boolean> {
  if (yes === true) return true;
  const answer = await context.confirm(question);
  if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', command);
  return answer;
}

/** The user of the operating system; some containers' users have no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
