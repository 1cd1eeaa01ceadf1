import { consoleTexts, signInTexts as texts } from '../../../texts/console/console.ts';
import { openIdTexts } from '../../../texts/console/openid.ts';
import type { ConsoleContext } from '../../context.ts';
import { html, local, type Node } from '../../html.ts';
import { field, passwordFields, problem } from '../../parts/fields.ts';
import type { Answer, OpenRequest, PageContent, Route } from '../../route.ts';
import { localPath } from '../../security.ts';
import { hashPassword, isPassword } from '../../users/passwords.ts';
import { beginSession, endSession, isThrottled, recordSignIn } from '../../users/sessions.ts';
import { linkedSubject, passwordHashOf, setPassword, subjectNamed, useLink } from '../../users/subjects.ts';
import { passwordFault } from '../account/password-fault.ts';

/** Signing in with a password or a link, and signing out. */
export const signInRoutes: readonly Route[] = [
  { method: 'GET', path: '/sign-in', access: { who: 'anyone' }, audit: 'nothing', answer: showSignIn },
  { method: 'POST', path: '/sign-in', access: { who: 'anyone' }, audit: 'sign_in', answer: signIn },
  { method: 'POST', path: '/sign-out', access: { who: 'signed_in' }, audit: 'sign_out', answer: signOut },
  { method: 'GET', path: '/link/:token', access: { who: 'anyone' }, audit: 'nothing', answer: showLink },
  { method: 'POST', path: '/link/:token', access: { who: 'anyone' }, audit: 'sign_in', answer: followLink },
  { method: 'GET', path: '/password/:token', access: { who: 'anyone' }, audit: 'nothing', answer: showPassword },
  { method: 'POST', path: '/password/:token', access: { who: 'anyone' }, audit: 'password', answer: choosePassword },
];

async function showSignIn({ context, query }: OpenRequest): Promise<Answer> {
  return { page: signInPage(context, localPath(query.next), null) };
}

async function signIn({ context, db, form, address, session }: OpenRequest): Promise<Answer> {
  if (context.config.console?.passwords === false) return { missing: true };
  const attempt = { name: (form.name ?? '').trim().slice(0, 200), address };
  const next = localPath(form.next);
  const found = await subjectNamed(db, attempt.name);
  const subject = found?.isDisabled ? null : found;
  if (await isThrottled(db, attempt)) {
    await recordSignIn(db, attempt, 'throttled', subject?.id ?? null);
    return { page: signInPage(context, next, () => texts.throttled), status: 429 };
  }
  const hash = subject === null ? null : await passwordHashOf(db, subject.id);
  if (!(await isPassword((form.password ?? '').slice(0, 1000), hash)) || subject === null) {
    await recordSignIn(db, attempt, 'refused', found?.id ?? null);
    return { page: signInPage(context, next, () => texts.refused), status: 403 };
  }
  await recordSignIn(db, attempt, 'signed_in', subject.id);
  return { redirect: next, session: { begin: await beginSession(db, subject.id, session) } };
}

async function signOut({ db, session, address }: OpenRequest): Promise<Answer> {
  if (session !== null) {
    await endSession(db, session.token);
    await recordSignIn(db, { name: session.name, address }, 'signed_out', session.subjectId);
  }
  return { redirect: '/sign-in', session: { end: true } };
}

function signInPage({ config }: ConsoleContext, next: string, fault: (() => string) | null): PageContent {
  const { oidc, passwords } = config.console ?? { oidc: null, passwords: true };
  const provider = oidc === null ? '' : new URL(oidc.issuer).host;
  return {
    title: () => texts.title,
    body: () => html`${
      oidc === null
        ? null
        : html`<p><a class="button" href=${local('/sign-in/openid', { next })}>${openIdTexts.submit({ provider })}</a></p>`
    }
      ${
        passwords
          ? html`<form method="post" action="/sign-in" class="narrow">
              ${problem(fault?.() ?? null)}
              <input type="hidden" name="next" value=${next} />
              ${field({ name: 'name', label: texts.name, autocomplete: 'username', isRequired: true })}
              ${field({ name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password', isRequired: true })}
              <button>${texts.submit}</button>
            </form>`
          : null
      }
      ${oidc === null ? null : html`<p><a href="/sign-in/openid/out">${openIdTexts.leave({ provider })}</a></p>`}`,
  };
}

/** A link signs in only by its form, because programs that look at a mail or a chat open the link, too. */
async function showLink({ db, params: { token = '' } }: OpenRequest): Promise<Answer> {
  const subject = await linkedSubject(db, token, 'sign_in');
  if (subject === null) return linkOver();
  return {
    page: {
      title: () => texts.linkTitle,
      body: () =>
        html`<form method="post" action=${local(`/link/${token}`)} class="narrow">
          <button>${texts.linkSubmit({ name: subject.name })}</button>
        </form>`,
    },
  };
}

async function followLink({ db, params: { token = '' }, address, session }: OpenRequest): Promise<Answer> {
  const subject = await useLink(db, token, 'sign_in');
  if (subject === null) return linkOver();
  await recordSignIn(db, { name: subject.name, address }, 'signed_in', subject.id);
  return { redirect: '/', session: { begin: await beginSession(db, subject.id, session) } };
}

async function showPassword({ context, db, params: { token = '' } }: OpenRequest): Promise<Answer> {
  if (context.config.console?.passwords === false) return { missing: true };
  const subject = await linkedSubject(db, token, 'password');
  return subject === null ? linkOver() : { page: passwordPage(token, subject.name, null) };
}

async function choosePassword(request: OpenRequest): Promise<Answer> {
  const { context, db, params, form, address, session } = request;
  const { token = '' } = params;
  if (context.config.console?.passwords === false) return { missing: true };
  const linked = await linkedSubject(db, token, 'password');
  if (linked === null) return linkOver();
  const fault = passwordFault(form);
  if (fault !== null) return { page: passwordPage(token, linked.name, fault), status: 400 };
  const subject = await useLink(db, token, 'password');
  if (subject === null) return linkOver();
  await setPassword(db, subject.id, await hashPassword(form.password ?? ''));
  await recordSignIn(db, { name: subject.name, address }, 'signed_in', subject.id);
  return { redirect: '/', session: { begin: await beginSession(db, subject.id, session) } };
}

function passwordPage(token: string, name: string, fault: (() => string) | null): PageContent {
  return {
    title: () => texts.choosePassword({ name }),
    body: (): Node =>
      html`<form method="post" action=${local(`/password/${token}`)} class="narrow">
        ${problem(fault?.() ?? null)} ${passwordFields()}
        <button>${texts.passwordSubmit}</button>
      </form>`,
  };
}

function linkOver(): Answer {
  return {
    page: {
      title: () => texts.linkTitle,
      body: () => html`<p>${texts.linkOver}</p><p><a href="/sign-in">${texts.title}</a> · ${consoleTexts.product}</p>`,
    },
    status: 410,
  };
}
