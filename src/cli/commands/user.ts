import { Option } from 'commander';
import { z } from 'zod';
import type { Config } from '../../config/load-config.ts';
import {
  addUser,
  disableUser,
  giveRole,
  linkUser,
  renewPassword,
  takeRole,
  type UserLink,
} from '../../console/users/changes.ts';
import { type GrantedRole, type Role, roles } from '../../console/users/rights.ts';
import { allSubjects, rolesOf } from '../../console/users/subjects.ts';
import { ConfigError } from '../../domain/errors.ts';
import { date } from '../../queries/answer.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { type Language, languages } from '../../texts/catalogue.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { userErrors, userTexts } from '../../texts/console/users.ts';
import { actedBy, agreed, statedBy } from '../acting.ts';
import { by, calendarDate, type Definition, installation, option, yes } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Acting {
  by?: string;
  reason: string;
}

interface RoleOptions extends Acting {
  installation?: number;
  until?: string;
  revoke?: true;
}

interface LinkOptions extends Acting {
  account?: string;
  identity?: string;
  remove?: 'account' | 'identity';
}

const granted = z.strictObject({ role: z.enum(roles), installation: z.number().nullable(), until: date.nullable() });
const reason = new Option('--reason <text>', 'the reason; it is recorded').default('user management');
const as = new Option('--as <language>', 'the language of the console for this user').choices(languages).default('en');
const withLink = z.strictObject({ name: z.string(), link: z.string() });
const identity = z.strictObject({ issuer: z.string(), subject: z.string() });

/** `vetledger user …`: the users of the console. Each change is an action with name and reason. */
export const userCommands = {
  list: {
    examples: [['vetledger user list', 'all users']],
    answer: z.strictObject({
      users: z.array(
        z.strictObject({
          name: z.string(),
          disabled: z.boolean(),
          account: z.string().nullable(),
          identity: identity.nullable(),
          roles: z.array(granted),
        }),
      ),
    }),
    run: list,
  } satisfies Definition<object>,
  add: {
    description:
      'Adds a user without a role, and prints a link with which the person chooses a password. Send the link over a channel that only this person reads.',
    options: [as, by, reason],
    examples: [
      ['vetledger user add m.virtanen --as fi', 'a user with Finnish texts'],
      ['vetledger user role m.virtanen accountant --installation 4711', 'then give the user a role'],
    ],
    answer: z.strictObject({ name: z.string(), link: z.string().nullable() }),
    run: (context, options, [name = '']) => add(context, options, name),
  } satisfies Definition<Acting & { as: Language }>,
  role: {
    description:
      'Roles belong to an installation: viewer reads the books; bookkeeper also decides about documents and deliveries; accountant also closes and approves mappings; operator reads and operates windows and deliveries, without names of clients. The role admin manages users and reads no books.',
    options: [
      installation,
      option('--until <date>', 'the last day of the role, for example of an auditor', calendarDate),
      new Option('--revoke', 'take the role away; sessions lose it at once'),
      by,
      reason,
    ],
    examples: [
      ['vetledger user role m.virtanen accountant --installation 4711', 'grant a role'],
      ['vetledger user role auditor viewer --installation 4711 --until 2026-06-30', 'until a day'],
      ['vetledger user role m.virtanen accountant --installation 4711 --revoke', 'take it away'],
    ],
    answer: granted.extend({ name: z.string(), revoked: z.boolean() }),
    run: (context, options, [name = '', role = '']) => changeRole(context, options, name, role),
  } satisfies Definition<RoleOptions>,
  password: {
    description: 'Prints a link with which the user chooses a new password. Using it ends all sessions of the user.',
    options: [by, reason],
    examples: [['vetledger user password m.virtanen', 'after a forgotten password']],
    answer: withLink,
    run: (context, options, [name = '']) => newPassword(context, options, name),
  } satisfies Definition<Acting>,
  link: {
    description:
      'Links an account of the operating system, or an identity of the OpenID provider, to the user. Actions on the command line with the account are then recorded under the name of the user, and --by cannot name another person. The identity signs in to the console; the page of the sign-in shows it.',
    options: [
      new Option('--account <name>', 'the account of the operating system'),
      new Option('--identity <subject>', 'the identity at the provider of `console.oidc`'),
      new Option('--remove <link>', 'end the link').choices(['account', 'identity']),
      by,
      reason,
    ],
    examples: [
      ['vetledger user link m.virtanen --account mvirtanen', 'the person works with this account'],
      ['vetledger user link m.virtanen --identity 248289761001', 'the person signs in with this identity'],
      ['vetledger user link m.virtanen --remove account', 'end the link'],
    ],
    answer: z.strictObject({
      name: z.string(),
      account: z.string().nullable().optional(),
      identity: identity.nullable().optional(),
    }),
    run: (context, options, [name = '']) => link(context, options, name),
  } satisfies Definition<LinkOptions>,
  disable: {
    description: 'Ends all sessions of the user and forbids new ones. The name stays in the record of actions.',
    options: [by, reason, yes],
    examples: [['vetledger user disable m.virtanen --reason "left the firm"', 'a person who left']],
    answer: z.strictObject({ name: z.string(), disabled: z.boolean() }),
    run: (context, options, [name = '']) => disable(context, options, name),
  } satisfies Definition<Acting & { yes?: true }>,
};

function list(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db }) => {
    const users: z.output<typeof userCommands.list.answer>['users'] = [];
    for (const { id, name, account, issuer, issuedSubject, isDisabled } of await allSubjects(db)) {
      const known = issuer === null || issuedSubject === null ? null : { issuer, subject: issuedSubject };
      users.push({ name, disabled: isDisabled, account, identity: known, roles: await rolesOf(db, id) });
    }
    await context.result({ users }, () => {
      if (users.length === 0) return userTexts.noUsers;
      return users.map(({ name, disabled, roles: own }) => `${name}  ${userLine(disabled, own)}`).join('\n');
    });
    return 0;
  });
}

function userLine(isDisabled: boolean, own: readonly GrantedRole[]): string {
  if (isDisabled) return userTexts.disabledMark;
  if (own.length === 0) return userTexts.noRole;
  return own
    .map(({ role, installation: of, until }) => [role, of, until].filter((part) => part !== null).join(' '))
    .join('; ');
}

function add(context: CommandContext, options: Acting & { as: Language }, name: string): Promise<number> {
  const stated = statedBy(options, 'user add');
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const acted = await actedBy(db, stated);
    const token = await db.transaction((trx) => addUser(trx, { name, language: options.as }, acted));
    const link = config.console?.passwords === false ? null : passwordAddress(config, token);
    const document = { name: name.toLowerCase(), link };
    await context.result(document, () =>
      link === null ? userTexts.addedIdentity(document) : userTexts.added({ ...document, link }),
    );
    return 0;
  });
}

function changeRole(context: CommandContext, options: RoleOptions, name: string, text: string): Promise<number> {
  const stated = statedBy(options, 'user role');
  const role = roles.find((each) => each === text);
  if (role === undefined) throw new ConfigError(userErrors.roleUnknown({ role: text, known: roles.join(', ') }));
  return withApp(context, { temporal: false }, async (app) => {
    const acted = await actedBy(app.db, stated);
    const of = installationOfRole(app, role, options.installation);
    const granted = { role, installation: of, until: options.until ?? null };
    await app.db.transaction((trx) =>
      options.revoke ? takeRole(trx, name, granted, acted) : giveRole(trx, name, granted, acted),
    );
    const document = { name: name.toLowerCase(), ...granted, revoked: options.revoke === true };
    await context.result(document, () =>
      document.revoked ? userTexts.revoked(document) : userTexts.granted(document),
    );
    return 0;
  });
}

function installationOfRole({ config }: App, role: Role, id: number | undefined): number | null {
  if (role === 'admin') {
    if (id !== undefined) throw new ConfigError(userErrors.adminEverywhere());
    return null;
  }
  if (id === undefined) throw new ConfigError(userErrors.installationNeeded({ role }));
  return installationOf(config, id).id;
}

function newPassword(context: CommandContext, options: Acting, name: string): Promise<number> {
  const stated = statedBy(options, 'user password');
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    if (config.console?.passwords === false) throw new ConfigError(userErrors.passwordsOff());
    const acted = await actedBy(db, stated);
    const token = await db.transaction((trx) => renewPassword(trx, name, acted));
    const document = { name: name.toLowerCase(), link: passwordAddress(config, token) };
    await context.result(document, () => userTexts.passwordLink(document));
    return 0;
  });
}

function link(context: CommandContext, options: LinkOptions, name: string): Promise<number> {
  const stated = statedBy(options, 'user link');
  const given = [options.account, options.identity, options.remove].filter((each) => each?.trim());
  if (given.length !== 1) throw usageError(usageTexts.linkWhat, 'user link');
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const acted = await actedBy(db, stated);
    const wanted = linkOf(config, options);
    await db.transaction((trx) => linkUser(trx, name, wanted, acted));
    const document = { name: name.toLowerCase(), ...wanted };
    await context.result(document, () => linkText(document));
    return 0;
  });
}

function linkOf({ console: configured }: Config, { account, identity: subject, remove }: LinkOptions): UserLink {
  if (remove !== undefined) return remove === 'account' ? { account: null } : { identity: null };
  if (account !== undefined) return { account: account.trim() };
  const issuer = configured?.oidc?.issuer;
  if (issuer === undefined) throw new ConfigError(userErrors.noProvider());
  return { identity: { issuer, subject: (subject ?? '').trim() } };
}

function linkText({ name, ...link }: UserLink & { name: string }): string {
  if ('account' in link) {
    const { account } = link;
    return account === null ? userTexts.accountUnlinked({ name }) : userTexts.accountLinked({ name, account });
  }
  return link.identity === null
    ? userTexts.identityUnlinked({ name })
    : userTexts.identityLinked({ name, ...link.identity });
}

function disable(context: CommandContext, options: Acting & { yes?: true }, name: string): Promise<number> {
  const stated = statedBy(options, 'user disable');
  return withApp(context, { temporal: false }, async ({ db }) => {
    const acted = await actedBy(db, stated);
    const isAgreed = await agreed(context, options, userTexts.disableQuestion({ name }), 'user disable');
    if (isAgreed) await db.transaction((trx) => disableUser(trx, name, acted));
    const document = { name: name.toLowerCase(), disabled: isAgreed };
    await context.result(document, () => (isAgreed ? userTexts.disabled(document) : ''));
    return 0;
  });
}

/** The address under which users reach the console. */
function consoleAddress({ console: configured }: Config): string {
  const [host] = configured?.hosts ?? [];
  return host === undefined ? `http://127.0.0.1:${configured?.port ?? 8095}` : `https://${host}`;
}

function passwordAddress(config: Config, token: string): string {
  return `${consoleAddress(config)}/password/${token}`;
}
