import { keepToken } from '../../domain/redact.ts';
import { loginReasons } from '../../texts/errors/erp-login.ts';
import { ErpError } from '../port.ts';
import {
  isToken,
  refusalIn,
  type TokenClient,
  tokenIn,
  tokenRequest,
  usableSeconds,
} from '../targets/api/credentials.ts';
import { type Answer, NoAnswer, pageError } from '../targets/api/http.ts';

/** Tokens as a server gave them. Without a refresh token, the former one stays valid (RFC 6749, 6). */
export interface Tokens {
  access: string;
  /** Seconds during which the access token is used. */
  accessSeconds: number;
  refresh?: string;
}

/**
 * The answer to a renewal. `refused`: the server does not know the refresh token, or no longer. `lost`: the server may have
 * replaced it, but there is no usable answer. `error`: the server did nothing.
 */
export type RenewalAnswer = { tokens: Tokens } | { refused: true } | { lost: ErpError } | { error: ErpError };

export type AskForTokens = (refreshToken: string) => Promise<RenewalAnswer>;

const refusals = [400, 401, 403];
const throttled = 429;

/** Requests new tokens once, with a refresh token. */
export async function renewOnce(client: TokenClient, refreshToken: string): Promise<RenewalAnswer> {
  let answer: Answer;
  try {
    const request = tokenRequest(client, { grant_type: 'refresh_token', refresh_token: refreshToken });
    // No signal ends it: the answer must be stored.
    answer = await client.transport.send(request, { signal: new AbortController().signal });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return error.sent ? { lost: lost(client, error.message) } : { error: error.toErpError('reads') };
  }
  const { status } = answer;
  if (refusals.includes(status) && refusalIn(answer) === 'invalid_grant') return { refused: true };
  try {
    return { tokens: tokensIn(answer, client) };
  } catch (error) {
    if (!(error instanceof ErpError)) throw error;
    if (refusals.includes(status) || status === throttled) return { error };
    return { lost: lost(client, status === 200 ? loginReasons.badAnswer : pageError(answer, []).message) };
  }
}

/** The tokens in an answer. Throws ErpError. */
export function tokensIn(answer: Answer, client: Pick<TokenClient, 'erp' | 'clientId' | 'log'>): Tokens {
  const { token: access, lifeSeconds, value } = tokenIn(answer, client);
  const { refresh_token: refresh = null } = value;
  if (refresh !== null && !isToken(refresh)) throw new ErpError('auth', loginReasons.badAnswer);
  if (refresh !== null) keepToken(refresh);
  return { access, accessSeconds: usableSeconds(lifeSeconds), ...(refresh !== null && { refresh }) };
}

function lost({ erp }: Pick<TokenClient, 'erp'>, reason: string): ErpError {
  return new ErpError('unsent', loginReasons.noAnswer({ erp, reason }));
}
