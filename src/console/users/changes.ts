import { type ActedBy, type ActionKind, recordAction } from '../../actions/record.ts';
import type { Connection } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import type { InstallationId } from '../../terms.ts';
import type { Language } from '../../texts/catalogue.ts';
import { userErrors } from '../../texts/console/users.ts';
import type { GrantedRole, Role } from './rights.ts';
import {
  addSubject,
  disableSubject,
  grantRole,
  type Identity,
  lastingAdmins,
  linkAccount,
  linkIdentity,
  makeLink,
  revokeRole,
  type Subject,
  subjectNamed,
  subjectOfAccount,
  subjectOfIdentity,
} from './subjects.ts';

/**
 * Changes of users, each with its action in the transaction of the caller. Users belong to the whole database, and so do the
 * actions about them. All throw UserError if the change is not possible.
 */

/** Adds a user without a role. Returns the token of a link with which the person chooses a password. */
export async function addUser(
  trx: Connection,
  { name, language }: { name: string; language: Language },
  by: ActedBy,
): Promise<string> {
  if (!/^[\p{L}\p{N}._@-]{2,60}$/u.test(name)) throw new UserError(userErrors.nameInvalid({ name }), 2);
  const id = await addSubject(trx, name, language);
  if (id === null) throw new UserError(userErrors.nameTaken({ name }), 1);
  await record(trx, 'add_user', by, { user: id });
  return makeLink(trx, id, 'password');
}

/** Grants a role, or changes its last day. */
export async function giveRole(trx: Connection, name: string, granted: GrantedRole, by: ActedBy): Promise<void> {
  const { id } = await known(trx, name);
  await record(trx, 'grant_role', by, { user: id, ...granted });
  await keepingAdmin(trx, name, () => grantRole(trx, id, granted));
}

export async function takeRole(
  trx: Connection,
  name: string,
  { role, installation }: { role: Role; installation: InstallationId | null },
  by: ActedBy,
): Promise<void> {
  const { id } = await known(trx, name);
  await record(trx, 'revoke_role', by, { user: id, role, installation });
  await keepingAdmin(trx, name, async () => {
    if (!(await revokeRole(trx, id, role, installation))) throw new UserError(userErrors.noSuchRole({ name, role }), 1);
  });
}

/** Returns the token of a link with which the user chooses a new password. */
export async function renewPassword(trx: Connection, name: string, by: ActedBy): Promise<string> {
  const { id } = await known(trx, name);
  await record(trx, 'renew_password', by, { user: id });
  return makeLink(trx, id, 'password');
}

/** Disables a user and ends the sessions. */
export async function disableUser(trx: Connection, name: string, by: ActedBy): Promise<void> {
  const { id } = await known(trx, name);
  await record(trx, 'disable_user', by, { user: id });
  await keepingAdmin(trx, name, () => disableSubject(trx, id));
}

/** What is linked to a user: an account of the operating system, or an identity of an OpenID provider. Null ends the link. */
export type UserLink = { account: string | null } | { identity: Identity | null };

/** Links an account or an identity to a user, who then acts with it on the command line, or signs in with it. */
export async function linkUser(trx: Connection, name: string, link: UserLink, by: ActedBy): Promise<void> {
  const { id } = await known(trx, name);
  const isEnd = 'account' in link ? link.account === null : link.identity === null;
  await record(trx, isEnd ? 'unlink_user' : 'link_user', by, { user: id, ...link });
  const owner = await ownerOf(trx, link);
  if (owner !== null && owner.id !== id) throw new UserError(userErrors.linkTaken({ name: owner.name }), 1);
  if ('account' in link) await linkAccount(trx, id, link.account);
  else await linkIdentity(trx, id, link.identity);
}

async function ownerOf(trx: Connection, link: UserLink): Promise<Subject | null> {
  if ('account' in link) return link.account === null ? null : subjectOfAccount(trx, link.account);
  return link.identity === null ? null : subjectOfIdentity(trx, link.identity);
}

async function known(db: Connection, name: string): Promise<Subject> {
  const found = await subjectNamed(db, name);
  if (found === null) throw new UserError(userErrors.unknown({ name }), 1);
  if (found.isDisabled) throw new UserError(userErrors.isDisabled({ name }), 1);
  return found;
}

/**
 * Throws UserError if the change leaves no administrator without a last day, although there was one. The action that was
 * recorded before keeps others from changing users until the transaction ends.
 */
async function keepingAdmin(trx: Connection, name: string, change: () => Promise<void>): Promise<void> {
  const before = await lastingAdmins(trx);
  await change();
  if (before > 0 && (await lastingAdmins(trx)) === 0) throw new UserError(userErrors.lastAdmin({ name }), 1);
}

async function record(trx: Connection, kind: ActionKind, by: ActedBy, input: object): Promise<void> {
  await recordAction(trx, { installation: null, kind, by, input });
}
