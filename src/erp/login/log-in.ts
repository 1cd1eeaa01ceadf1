import { type ActedBy, recordAction } from '../../actions/record.ts';
import { keepLease, waitForLease } from '../../db/with-lease.ts';
import type { InstallationId } from '../../terms.ts';
import { noteAnswer } from '../company-lease.ts';
import { companyKey } from '../entry-key.ts';
import { ErpError } from '../port.ts';
import { chooseCompany } from '../targets/api/choose-company.ts';
import { readAs } from '../targets/api/form.ts';
import { answerTo, pageError, resultOf, valueIn } from '../targets/api/http.ts';
import { revokeLogin } from './authorize.ts';
import { loginScope, removeLogin, storedLogin, storeLogin } from './login-store.ts';
import { openToken, sealedTokens } from './rotating-tokens.ts';
import { type ErpLogin, type LoginPorts, loginHttp } from './server.ts';
import type { Tokens } from './token-request.ts';

/** A company as the ERP names it. */
export interface ReachedCompany {
  id: string;
  name: string;
}

/** Who ends or makes a login, and for which installation. */
export interface LoginChange {
  installation: InstallationId;
  by: ActedBy;
}

const success = 200;
/** How long a logout waits for a running renewal. */
const longestWaitMs = 60_000;

/** The configured company among those that the token reaches. Throws ErpError. */
export async function reachedCompany(
  login: ErpLogin,
  { access }: Pick<Tokens, 'access'>,
  { log, signal }: Pick<LoginPorts, 'log'> & { signal: AbortSignal },
): Promise<ReachedCompany> {
  const { erp, companies, company, clientId: user } = login;
  const http = loginHttp(login, log);
  try {
    const headers = { authorization: `Bearer ${access}` };
    const request = { verb: 'GET', path: companies.url, headers, body: '', method: 'companies' } as const;
    const answer = await answerTo(http, 'reads', request, { signal });
    const value = answer.status === success ? valueIn(answer.text) : undefined;
    const outcome = value === undefined ? { error: pageError(answer, []) } : { result: value };
    const result = resultOf(outcome, { access: 'reads', method: 'companies', answer, name: erp }, log);
    return chooseCompany(readAs(result, companies.read), { company: company.name, user }, erp);
  } finally {
    http.close();
  }
}

/** Stores a confirmed login. Deliveries to the company continue at once. */
export async function keepLogin(
  { db, keys }: Pick<LoginPorts, 'db' | 'keys'>,
  login: ErpLogin,
  tokens: Required<Tokens>,
  { id: erpId, name: erpName }: ReachedCompany,
  { installation, by }: LoginChange,
): Promise<void> {
  const company = companyKey(login.company);
  const sealed = sealedTokens(tokens, { company, keys });
  await db.transaction(async (trx) => {
    await storeLogin(trx, company, { ...sealed, erpId, erpName });
    await noteAnswer(trx, { company }, { works: true });
    await recordAction(trx, { installation, kind: 'login_erp', by, input: { company, erp_company: erpId } });
  });
}

/** The company of the stored login; null if there is none. */
export async function loggedInCompany(
  { db }: Pick<LoginPorts, 'db'>,
  login: Pick<ErpLogin, 'company'>,
): Promise<ReachedCompany | null> {
  const stored = await storedLogin(db, companyKey(login.company));
  return stored && { id: stored.erpId, name: stored.erpName };
}

/**
 * Ends the login here and in the ERP. `isRevoked` is false if the ERP did not confirm it, or the token could not be read. No
 * renewal runs meanwhile, because it could bring a token that is not revoked.
 */
export async function endLogin(
  { db, keys, clock, log, signal }: LoginPorts & { signal: AbortSignal },
  login: ErpLogin,
  { installation, by }: LoginChange,
): Promise<{ isRevoked: boolean }> {
  const company = companyKey(login.company);
  const ports = { db, clock, signal };
  const lease = await waitForLease(ports, loginScope(company), { holder: `logout ${company}`, waitMs: longestWaitMs });
  return keepLease(ports, lease, async ({ transact }) => {
    const stored = await storedLogin(db, company);
    const isRevoked = stored !== null && (await isRevokedBy(login, stored, { company, keys, log }));
    await transact(async (trx) => {
      await removeLogin(trx, company);
      await recordAction(trx, { installation, kind: 'logout_erp', by, input: { company }, result: { isRevoked } });
    });
    return { isRevoked };
  });
}

async function isRevokedBy(
  login: ErpLogin,
  stored: Parameters<typeof openToken>[0],
  { company, keys, log }: Parameters<typeof openToken>[2] & Pick<LoginPorts, 'log'>,
): Promise<boolean> {
  try {
    return await revokeLogin(login, openToken(stored, 'refresh', { company, keys }), log);
  } catch (error) {
    if (error instanceof ErpError) return false;
    throw error;
  }
}
