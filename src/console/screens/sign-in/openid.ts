import { createHmac } from 'node:crypto';
import * as openid from 'openid-client';
import type { OpenIdConfig } from '../../../config/load-config.ts';
import type { Identity } from '../../users/subjects.ts';

/**
 * Signing in through an OpenID provider: authorization code with PKCE, state and nonce. They derive from the secret of the
 * attempt, which only the browser's cookie has. So nothing is stored, and an answer to another browser is worth nothing.
 */

/** The time limit of a request to the provider, in seconds. */
const requestSeconds = 10;
/** Path of the console to which the provider returns the browser. */
export const returnPath = '/sign-in/openid/return';

/** The settings of providers, by issuer. They are read again only by a new process, or after an error. */
const discovered = new Map<string, Promise<openid.Configuration>>();

/** The address at the provider where the person signs in. Throws if the provider does not answer. */
export async function authorizationAddress(
  settings: OpenIdConfig,
  { attempt, origin }: { attempt: string; origin: string },
): Promise<string> {
  const url = openid.buildAuthorizationUrl(await provider(settings), {
    ...{ redirect_uri: `${origin}${returnPath}`, scope: 'openid' },
    ...{ state: derived(attempt, 'state'), nonce: derived(attempt, 'nonce') },
    code_challenge: await openid.calculatePKCECodeChallenge(derived(attempt, 'verifier')),
    code_challenge_method: 'S256',
  });
  return url.href;
}

/**
 * The identity that the provider confirms for this attempt. Throws unless state, nonce, issuer, audience, time and signature are as
 * they must be.
 */
export async function confirmedIdentity(
  settings: OpenIdConfig,
  { attempt, origin, query }: { attempt: string; origin: string; query: Readonly<Record<string, string>> },
): Promise<Identity> {
  const answer = new URL(`${origin}${returnPath}?${new URLSearchParams(query)}`);
  const tokens = await openid.authorizationCodeGrant(await provider(settings), answer, {
    expectedState: derived(attempt, 'state'),
    expectedNonce: derived(attempt, 'nonce'),
    pkceCodeVerifier: derived(attempt, 'verifier'),
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('the provider sent no ID token');
  return { issuer: claims.iss, subject: claims.sub };
}

/** The address at which the person signs out of the provider. Null if the provider has none. */
export async function signOutAddress(settings: OpenIdConfig, origin: string): Promise<string | null> {
  const found = await provider(settings);
  if (found.serverMetadata().end_session_endpoint === undefined) return null;
  return openid.buildEndSessionUrl(found, { post_logout_redirect_uri: `${origin}/sign-in` }).href;
}

function provider({ issuer, clientId, clientSecret }: OpenIdConfig): Promise<openid.Configuration> {
  const known = discovered.get(issuer);
  if (known !== undefined) return known;
  // Each provider accepts this kind of sign-in (RFC 6749, 2.3.1). The configuration permits http only for near hosts.
  const isPlain = issuer.startsWith('http:');
  const found = openid.discovery(new URL(issuer), clientId, {}, openid.ClientSecretBasic(clientSecret), {
    timeout: requestSeconds,
    execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
  });
  discovered.set(issuer, found);
  found.catch(() => discovered.delete(issuer));
  return found;
}

function derived(attempt: string, purpose: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', attempt).update(purpose).digest('base64url');
}
