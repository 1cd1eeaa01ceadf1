import { catalogue } from '../catalogue.ts';

/** Signing in through an OpenID provider. */
export const openIdTexts = catalogue('console/openid.openIdTexts', {
  title: 'Sign in',
  submit: ({ provider }: { provider: string }) => `Sign in with ${provider}`,
  leave: ({ provider }: { provider: string }) => `Sign out of ${provider}`,
  again: 'Back to the sign-in',
  unreachable: 'The provider of the sign-in does not answer. Try again later.',
  failed: 'The provider did not confirm this sign-in, or it took too long. Nothing was changed. Sign in again.',
  throttled: 'There were too many refused sign-ins from this address. Wait 15 minutes and try again.',
  unknown: ({ issuer, subject }: { issuer: string; subject: string }) =>
    `The provider ${issuer} confirmed the identity ${subject}, but this identity belongs to no user. Give it to an administrator, who links it with vetledger user link, or on the page of the users.`,
  disabled: ({ name }: { name: string }) => `The user ${name} is disabled. Ask an administrator.`,
});
