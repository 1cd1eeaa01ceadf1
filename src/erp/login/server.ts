import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import type { SecretKey } from '../../domain/secret-key.ts';
import type { JsonValue } from '../../records/json.ts';
import type { Logger } from '../deliver/slice.ts';
import { companyKey } from '../entry-key.ts';
import type { CompanyRef } from '../port.ts';
import { ErpHttp } from '../targets/api/http.ts';
import { RotatingTokens } from './rotating-tokens.ts';
import { renewOnce } from './token-request.ts';

/** How a person logs vetledger in to an ERP: authorization code with PKCE (RFC 6749, 4.1), and refresh tokens. */
export interface ErpLogin {
  /** Name of the ERP, for messages. */
  erp: string;
  /** The company as the configuration names it. */
  company: CompanyRef & { name: string | null };
  clientId: string;
  /** Null for a client without a secret. */
  clientSecret: string | null;
  /** Whether id and secret are fields of the form, or the header of Basic authentication. */
  sentAs: 'form' | 'basic';
  /** The address to which the ERP sends the browser afterwards, as it is registered there. */
  redirectUrl: string;
  /** Where the person agrees, where tokens are given, and where they are revoked. */
  urls: { authorization: string; token: string; revocation: string | null };
  scope: string;
  /** Days after which an unused login ends. Null if it does not end, or nothing is known. */
  unusedDays: number | null;
  /** The address that lists the companies which a token reaches, and how its answer is read. */
  companies: { url: string; read(answer: JsonValue): { id: string; name: string }[] };
}

/** Where logins are stored, and the keys that seal them. */
export interface LoginPorts {
  db: Db;
  keys: readonly SecretKey[];
  clock: Clock;
  log: Logger;
}

/** Time limit of a request to the server of tokens, in seconds. */
const requestSeconds = 30;

/** Sends requests to any server, for a login. The path of a request is its whole address. */
export function loginHttp({ erp }: Pick<ErpLogin, 'erp'>, log: Logger): ErpHttp {
  return new ErpHttp({ url: '', timeoutSeconds: requestSeconds }, erp, log);
}

/** The credentials of a login. They send nothing until the first request. */
export function openLogin(login: ErpLogin, { db, keys, clock, log }: LoginPorts): RotatingTokens {
  const { erp, urls, unusedDays } = login;
  const transport = loginHttp(login, log);
  const client = { ...login, transport, path: urls.token, log };
  return new RotatingTokens({
    ...{ erp, company: companyKey(login.company), keys, unusedDays, db, clock, log },
    ask: (token) => renewOnce(client, token),
    onClosed: () => transport.close(),
  });
}
