import { openIdTexts as texts } from '../../../texts/console/openid.ts';
import { html } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, OpenRequest, Route } from '../../route.ts';
import { localPath } from '../../security.ts';
import { beginSession, isThrottled, recordSignIn } from '../../users/sessions.ts';
import { type Identity, subjectOfIdentity } from '../../users/subjects.ts';
import { newToken } from '../../users/tokens.ts';
import { authorizationAddress, confirmedIdentity, returnPath, signOutAddress } from './openid.ts';

const anyone = { access: { who: 'anyone' }, isRemote: true } as const;

/** Signing in through the OpenID provider of the configuration. Without one, these pages do not exist. */
export const openIdRoutes: readonly Route[] = [
  { ...anyone, method: 'GET', path: '/sign-in/openid', audit: 'nothing', answer: begin },
  { ...anyone, method: 'GET', path: returnPath, audit: 'sign_in', answer: finish },
  { ...anyone, method: 'GET', path: '/sign-in/openid/out', audit: 'nothing', answer: leave },
];

/** Sends the browser to the provider. The secret of the attempt is followed by the page to show after the sign-in. */
async function begin({ context, origin, query }: OpenRequest): Promise<Answer> {
  const { oidc } = context.config.console ?? {};
  if (!oidc) return { missing: true };
  const attempt = newToken();
  try {
    const redirect = await authorizationAddress(oidc, { attempt, origin });
    return { redirect, attempt: { begin: `${attempt}.${localPath(query.next)}` } };
  } catch (err) {
    context.log.warn({ err }, 'the OpenID provider did not answer');
    return refused(() => texts.unreachable, 502);
  }
}

async function finish(request: OpenRequest): Promise<Answer> {
  const { context, db, origin, query, address, attempt, session } = request;
  const { oidc } = context.config.console ?? {};
  if (!oidc) return { missing: true };
  const [secret = ''] = (attempt ?? '').split('.');
  // All attempts from an address count together, because the name of the person is not known.
  const attempted = { name: `openid ${address}`, address };
  const refuse = async (text: () => string, id: number | null = null, status = 403): Promise<Answer> => {
    await recordSignIn(db, attempted, status === 429 ? 'throttled' : 'refused', id);
    return refused(text, status);
  };
  if (secret === '') return refuse(() => texts.failed);
  if (await isThrottled(db, attempted)) return refuse(() => texts.throttled, null, 429);
  let identity: Identity;
  try {
    identity = await confirmedIdentity(oidc, { attempt: secret, origin, query });
  } catch (err) {
    context.log.warn({ err }, 'a sign-in through the OpenID provider failed');
    return refuse(() => texts.failed);
  }
  const subject = await subjectOfIdentity(db, identity);
  if (subject === null) return refuse(() => texts.unknown(identity));
  if (subject.isDisabled) return refuse(() => texts.disabled({ name: subject.name }), subject.id);
  const token = await db.transaction(async (trx) => {
    await recordSignIn(trx, { name: subject.name, address }, 'signed_in', subject.id);
    return beginSession(trx, subject.id, session);
  });
  return {
    redirect: localPath(attempt?.slice(secret.length + 1)),
    session: { begin: token },
    attempt: { end: true },
  };
}

/** Sends the browser to the page of the provider that signs out there. */
async function leave({ context, origin }: OpenRequest): Promise<Answer> {
  const { oidc } = context.config.console ?? {};
  if (!oidc) return { missing: true };
  try {
    return { redirect: (await signOutAddress(oidc, origin)) ?? '/sign-in' };
  } catch (err) {
    context.log.warn({ err }, 'the OpenID provider did not answer');
    return refused(() => texts.unreachable, 502);
  }
}

function refused(text: () => string, status: number): Answer {
  return {
    status,
    attempt: { end: true },
    page: {
      title: () => texts.title,
      body: () => html`${problem(text())}<p><a href="/sign-in">${texts.again}</a></p>`,
    },
  };
}
