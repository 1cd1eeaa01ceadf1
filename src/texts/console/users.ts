import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** The commands `vetledger console` and `vetledger user`. */
export const userTexts = catalogue('console/users.userTexts', {
  listening: ({ url }: { url: string }) => `The console is served at ${url}`,
  exposed: ({ address }: { address: string }) =>
    `Other machines may reach ${address}, and passwords would cross the network without TLS. Let only a proxy with TLS reach it.`,
  added: ({ name, link }: { name: string; link: string }) =>
    `Added ${name}. This link sets the password. It works once, for 24 hours:\n${link}`,
  passwordLink: ({ name, link }: { name: string; link: string }) =>
    `This link sets the password of ${name}. It works once, for 24 hours. It ends all sessions of ${name}:\n${link}`,
  granted: ({ name, role, installation }: { name: string; role: string; installation: number | null }) =>
    `${name} is ${role}${installation === null ? '' : ` of installation ${installation}`}.`,
  revoked: ({ name, role, installation }: { name: string; role: string; installation: number | null }) =>
    `${name} is no longer ${role}${installation === null ? '' : ` of installation ${installation}`}.`,
  disabled: ({ name }: { name: string }) => `${name} is disabled. All sessions of ${name} have ended.`,
  addedIdentity: ({ name }: { name: string }) =>
    `Added ${name}. Let the person sign in, and link the identity that the page shows with \`vetledger user link\`.`,
  accountLinked: ({ name, account }: { name: string; account: string }) =>
    `${name} acts on the command line with the account ${account} of the operating system.`,
  accountUnlinked: ({ name }: { name: string }) => `No account of the operating system is linked to ${name}.`,
  identityLinked: ({ name, issuer, subject }: { name: string; issuer: string; subject: string }) =>
    `${name} signs in through ${issuer} as ${subject}.`,
  identityUnlinked: ({ name }: { name: string }) =>
    `No identity is linked to ${name}. All sessions of ${name} have ended.`,
  noUsers: 'There are no users. Add one with `vetledger user add`.',
  disabledMark: 'disabled',
  noRole: 'no role',
  disableQuestion: ({ name }: { name: string }) => `Disable ${name}? The name cannot be used again.`,
});

export const userErrors = catalogue('console/users.userErrors', {
  nameInvalid: ({ name }: { name: string }): PlainError => ({
    code: 'user_name_invalid',
    message: `${name} is not a user name.`,
    todo: 'Use 2 to 60 letters, digits, dots, hyphens, underscores and at signs.',
  }),
  nameTaken: ({ name }: { name: string }): PlainError => ({
    code: 'user_name_taken',
    message: `The name ${name} is or was the name of a user. A name is never given to a second person.`,
    todo: 'Choose another name, or use `vetledger user role` for the user who has it.',
  }),
  unknown: ({ name }: { name: string }): PlainError => ({
    code: 'user_unknown',
    message: `There is no user ${name}.`,
    todo: '`vetledger user list` shows the users.',
  }),
  isDisabled: ({ name }: { name: string }): PlainError => ({
    code: 'user_disabled',
    message: `The user ${name} is disabled.`,
    todo: 'Add the person with another name.',
  }),
  roleUnknown: ({ role, known }: { role: string; known: string }): PlainError => ({
    code: 'role_unknown',
    message: `${role} is not a role.`,
    todo: `Use one of these: ${known}.`,
  }),
  installationNeeded: ({ role }: { role: string }): PlainError => ({
    code: 'role_needs_installation',
    message: `The role ${role} belongs to an installation.`,
    todo: 'Name it with `--installation`.',
  }),
  adminEverywhere: (): PlainError => ({
    code: 'role_without_installation',
    message: 'The role admin belongs to no installation.',
    todo: 'Leave `--installation` out.',
  }),
  accountNotLinked: ({ account }: { account: string }): PlainError => ({
    code: 'account_not_linked',
    message: `The configuration requires two persons (\`two_persons\`), but the account ${account} is not linked to a user of the console.`,
    todo: 'Link it with `vetledger user link`, or ask for the action in the console.',
  }),
  lastAdmin: ({ name }: { name: string }): PlainError => ({
    code: 'last_admin',
    message: `${name} is the last administrator of users. Nothing was changed.`,
    todo: 'Give another user the role admin first.',
  }),
  byIsUser: ({ by, account }: { by: string; account: string }): PlainError => ({
    code: 'by_is_user',
    message: `${by} is a user of the console, and the account ${account} of the operating system is not linked to this user.`,
    todo: 'Let this person use the command line, or link the account with `vetledger user link`.',
  }),
  accountIsLinked: ({ account, name }: { account: string; name: string }): PlainError => ({
    code: 'account_is_linked',
    message: `The account ${account} of the operating system belongs to ${name}, and --by names another person.`,
    todo: 'Leave --by out, or let the other person use their account.',
  }),
  accountDisabled: ({ account, name }: { account: string; name: string }): PlainError => ({
    code: 'user_disabled',
    message: `The account ${account} of the operating system belongs to ${name}, and this user is disabled.`,
    todo: 'Act with the account of another person.',
  }),
  linkTaken: ({ name }: { name: string }): PlainError => ({
    code: 'link_taken',
    message: `This account or identity is linked to ${name}.`,
    todo: 'End that link first, with `vetledger user link NAME --remove`.',
  }),
  noProvider: (): PlainError => ({
    code: 'no_openid_provider',
    message: 'The configuration names no OpenID provider, so users have no identity.',
    todo: 'Set `console.oidc`.',
  }),
  passwordsOff: (): PlainError => ({
    code: 'passwords_off',
    message: 'Users do not sign in with passwords (`console.passwords: false`).',
    todo: 'Link the identity of the user with `vetledger user link`.',
  }),
  noSuchRole: ({ name, role }: { name: string; role: string }): PlainError => ({
    code: 'role_not_granted',
    message: `${name} does not have the role ${role} there.`,
    todo: '`vetledger user list` shows the roles.',
  }),
});
