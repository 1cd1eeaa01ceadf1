import { userInfo } from 'node:os';
import type { ActedBy } from '../actions/record.ts';
import { hasSubjects, subjectNamed, subjectOfAccount } from '../console/users/subjects.ts';
import type { Connection } from '../db/rows.ts';
import { ConfigError, UserError } from '../domain/errors.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { userErrors } from '../texts/console/users.ts';
import { commandErrors } from '../texts/errors/commands.ts';
import { type CommandContext, usageError } from './context.ts';

/** The person of `--by`, or null, and the reason. `actedBy` finds the person who is recorded. */
export interface Stated {
  by: string | null;
  reason: string;
}

/** The person and the reason as given. Throws ConfigError if one of them is empty. */
export function statedBy(options: { reason: string; by?: string | undefined }, command: string): Stated {
  const [reason, by] = [options.reason.trim(), options.by?.trim() ?? null];
  if (reason === '') throw usageError(usageTexts.reasonEmpty, command);
  if (by === '') throw usageError(usageTexts.byEmpty, command);
  return { by, reason };
}

/** The person and the reason that are recorded with an action of the command line. Throws as `commandSubject`. */
export async function actedBy(db: Connection, { by, reason }: Stated): Promise<ActedBy> {
  return { actedBy: await commandSubject(db, by), reason };
}

/**
 * The name under which the command line acts: the user of the console to whom the operating system's account is linked. Without a
 * link, it is `by`, or the account. An account with the name of a user is recorded as `account NAME`, which no user has. Throws
 * UserError if the account is linked and `by` names another person, if `by` names a user of the console, or if the linked user is
 * disabled.
 */
async function commandSubject(db: Connection, by: string | null): Promise<string> {
  const account = accountName();
  const linked = await subjectOfAccount(db, account);
  if (linked === null) {
    const isUser = (await subjectNamed(db, by ?? account)) !== null;
    if (by === null) return isUser ? `account ${account}` : account;
    if (isUser) throw new UserError(userErrors.byIsUser({ by, account }), 1);
    return by;
  }
  const { name } = linked;
  if (linked.isDisabled) throw new UserError(userErrors.accountDisabled({ account, name }), 1);
  if (by !== null && by.toLowerCase() !== name) throw new UserError(userErrors.accountIsLinked({ account, name }), 1);
  return name;
}

export interface Persons {
  by: string;
  second: string | null;
  /** The command only asks: another user must approve the action in the console. */
  onlyAsks: boolean;
}

/**
 * The responsible person and the second person. Throws ConfigError if a name is empty, if both are the same, or if the
 * configuration requires a second person and none is named. If the console has users, the second person is one of them, and
 * the first one has a linked account. Otherwise it throws UserError.
 */
export async function personsOf(
  { db, config }: { db: Connection; config: { twoPersons: boolean } },
  stated: Stated,
  options: { second?: string },
  command: string,
): Promise<Persons> {
  const { actedBy: by } = await actedBy(db, stated);
  const second = options.second?.trim() ?? null;
  if (second === '') throw usageError(usageTexts.secondEmpty, command);
  if (config.twoPersons && (await hasSubjects(db))) {
    const account = accountName();
    if (second !== null) throw usageError(usageTexts.secondInConsole, command);
    if ((await subjectOfAccount(db, account)) === null)
      throw new UserError(userErrors.accountNotLinked({ account }), 1);
    return { by, second: null, onlyAsks: true };
  }
  if (second === null && config.twoPersons) {
    throw new ConfigError(commandErrors.secondPersonMissing());
  }
  if (second !== null && second.toLowerCase() === by.toLowerCase()) {
    throw new ConfigError(commandErrors.secondPersonIsFirst({ by }));
  }
  return { by, second, onlyAsks: false };
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
