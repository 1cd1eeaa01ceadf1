import * as openid from 'openid-client';
import { UserError } from '../../domain/errors.ts';
import { keepToken } from '../../domain/redact.ts';
import { loginErrors } from '../../texts/errors/erp-login.ts';
import type { Logger } from '../deliver/slice.ts';
import { basic, isToken, usableSeconds } from '../targets/api/credentials.ts';
import { safeText } from '../targets/api/explain.ts';
import { type ErpHttp, NoAnswer } from '../targets/api/http.ts';
import { type ErpLogin, loginHttp } from './server.ts';
import type { Tokens } from './token-request.ts';

/** A login that a person has begun. Its secrets are only in memory, so one that is given up leaves nothing. */
export interface LoginAttempt {
  /** The address that the person opens in a browser. */
  address: string;
  /**
   * Exchanges the code in the address to which the browser was sent. Null if the text is not the answer to this attempt.
   * Throws UserError.
   */
  tokens(pasted: string): Promise<Required<Tokens> | null>;
  /** Ends tokens that are not stored. Faults are ignored: tokens that are not used end some time later. */
  revoke(refreshToken: string): Promise<boolean>;
  close(): void;
}

const lifeSecondsIfUnknown = 60;

export async function beginLogin(login: ErpLogin, log: Logger): Promise<LoginAttempt> {
  const http = loginHttp(login, log);
  const client = clientOf(login, http);
  const [state, verifier] = [openid.randomState(), openid.randomPKCECodeVerifier()];
  const address = openid.buildAuthorizationUrl(client, {
    ...{ redirect_uri: login.redirectUrl, scope: login.scope, state },
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return {
    address: address.href,
    async tokens(pasted) {
      const found = answerIn(pasted, login.redirectUrl, state);
      if (found === null) return null;
      try {
        const answer = await openid.authorizationCodeGrant(client, found, {
          expectedState: state,
          pkceCodeVerifier: verifier,
        });
        return usable(answer, login);
      } catch (error) {
        throw error instanceof UserError ? error : failed(error, login);
      }
    },
    revoke: (token) => revoked(client, login, token),
    close: () => http.close(),
  };
}

/** Ends a stored login in the ERP. Returns whether the ERP has ended it. */
export async function revokeLogin(login: ErpLogin, refreshToken: string, log: Logger): Promise<boolean> {
  const http = loginHttp(login, log);
  try {
    return await revoked(clientOf(login, http), login, refreshToken);
  } finally {
    http.close();
  }
}

async function revoked(client: openid.Configuration, { urls }: ErpLogin, refreshToken: string): Promise<boolean> {
  if (urls.revocation === null) return false;
  try {
    await openid.tokenRevocation(client, refreshToken, { token_type_hint: 'refresh_token' });
    return true;
  } catch {
    return false;
  }
}

function clientOf({ urls, clientId, clientSecret, sentAs }: ErpLogin, http: ErpHttp): openid.Configuration {
  const { authorization, token, revocation } = urls;
  const authentication =
    clientSecret === null
      ? openid.None()
      : sentAs === 'basic'
        ? sendBasic(clientId, clientSecret)
        : openid.ClientSecretPost(clientSecret);
  const client = new openid.Configuration(
    {
      ...{ issuer: new URL(token).origin, authorization_endpoint: authorization, token_endpoint: token },
      ...(revocation !== null && { revocation_endpoint: revocation }),
    },
    clientId,
    undefined,
    authentication,
  );
  client[openid.customFetch] = fetchOver(http);
  // The configuration permits http only for this machine.
  if (token.startsWith('http:')) openid.allowInsecureRequests(client);
  return client;
}

/** Basic authentication as renewals send it: the library encodes more characters, which some servers do not expect. */
function sendBasic(clientId: string, clientSecret: string): openid.ClientAuth {
  return (_server, _client, _body, headers) => headers.set('authorization', basic(clientId, clientSecret));
}

/** `fetch` with our rules: one request, no redirects, a time limit, and a limit of the answer. */
function fetchOver(http: ErpHttp): openid.CustomFetch {
  return async (path, { method, headers, body }) => {
    const sent = { path, headers: headers as Record<string, string>, body: String(body ?? ''), method: 'login' };
    const { signal } = new AbortController();
    const answer = await http.send({ ...sent, verb: method === 'GET' ? 'GET' : 'POST' }, { signal });
    const type = answer.headers?.['content-type'];
    const { status, text } = answer;
    return new Response(status === 204 ? null : text, {
      status,
      headers: { 'content-type': typeof type === 'string' ? type : 'text/plain' },
    });
  };
}

/** The answer of this attempt in a pasted address; null if it is another text. */
function answerIn(pasted: string, redirectUrl: string, state: string): URL | null {
  const text = pasted.trim();
  if (!URL.canParse(text)) return null;
  const { searchParams, search } = new URL(text);
  if (searchParams.get('state') !== state) return null;
  keepToken(searchParams.get('code') ?? '');
  const answer = new URL(redirectUrl);
  answer.search = search;
  return answer;
}

function usable(answer: openid.TokenEndpointResponse, { erp }: ErpLogin): Required<Tokens> {
  const { access_token: access, refresh_token: refresh, expires_in: seconds } = answer;
  if (refresh === undefined) throw new UserError(loginErrors.noRefreshToken({ erp }), 1);
  if (!isToken(access) || !isToken(refresh)) throw new UserError(loginErrors.noToken({ erp }), 1);
  for (const token of [access, refresh]) keepToken(token);
  const isLife = typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0;
  return { access, refresh, accessSeconds: usableSeconds(isLife ? seconds : lifeSecondsIfUnknown) };
}

function failed(error: unknown, { erp }: ErpLogin): UserError {
  if (error instanceof openid.AuthorizationResponseError)
    return new UserError(loginErrors.denied({ erp, reason: safeText(error.error) }), 1);
  if (error instanceof openid.ResponseBodyError)
    return new UserError(loginErrors.codeRefused({ erp, reason: safeText(error.error) }), 1);
  const cause = error instanceof Error && error.cause instanceof NoAnswer ? error.cause : error;
  const reason = cause instanceof Error ? safeText(cause.message) : '';
  return new UserError(loginErrors.failed({ erp, reason }), cause instanceof NoAnswer ? 3 : 1);
}
