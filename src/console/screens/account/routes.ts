import { languageOf } from '../../../languages/language.ts';
import { languages } from '../../../texts/catalogue.ts';
import { roleNames, signInTexts as texts } from '../../../texts/console/console.ts';
import { html, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { choice, field, languageNames, passwordFields, problem } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { Answer, PageContent, Route, SignedInRequest } from '../../route.ts';
import { hashPassword, isPassword } from '../../users/passwords.ts';
import type { GrantedRole } from '../../users/rights.ts';
import { beginSession, isThrottled, recordSignIn, type Session } from '../../users/sessions.ts';
import { passwordHashOf, rolesOf, setLanguage, setPassword } from '../../users/subjects.ts';
import { passwordFault } from './password-fault.ts';

/** The subject's own page: language, password and roles. */
export const accountRoutes: readonly Route[] = [
  { method: 'GET', path: '/account', access: { who: 'signed_in' }, audit: 'nothing', answer: show },
  {
    method: 'POST',
    path: '/account/language',
    access: { who: 'signed_in' },
    audit: 'settings',
    answer: changeLanguage,
  },
  {
    method: 'POST',
    path: '/account/password',
    access: { who: 'signed_in' },
    audit: 'password',
    answer: changePassword,
  },
];

async function show({ context, db, session }: SignedInRequest): Promise<Answer> {
  const granted = await rolesOf(db, session.subjectId);
  return { page: accountPage(session, granted, null, context.config.console?.passwords !== false) };
}

async function changeLanguage({ db, session, form: { language = '' } }: SignedInRequest): Promise<Answer> {
  const chosen = languageOf(language);
  if (chosen !== undefined) await setLanguage(db, session.subjectId, chosen);
  return { redirect: '/account' };
}

/** All sessions end with the old password. This browser gets a new one. */
async function changePassword({ context, db, session, form, address }: SignedInRequest): Promise<Answer> {
  if (context.config.console?.passwords === false) return { missing: true };
  const { subjectId, name } = session;
  const refused = async (fault: () => string): Promise<Answer> => ({
    page: accountPage(session, await rolesOf(db, subjectId), fault),
    status: 400,
  });
  const fault = passwordFault(form);
  if (fault !== null) return refused(fault);
  if (await isThrottled(db, { name, address })) return refused(() => texts.throttled);
  if (!(await isPassword((form.present ?? '').slice(0, 1000), await passwordHashOf(db, subjectId)))) {
    await recordSignIn(db, { name, address }, 'refused', subjectId);
    return refused(() => texts.passwordWrong);
  }
  await setPassword(db, subjectId, await hashPassword(form.password ?? ''));
  return { redirect: '/account', session: { begin: await beginSession(db, subjectId, null) } };
}

function accountPage(
  session: Session,
  granted: readonly GrantedRole[],
  fault: (() => string) | null,
  hasPassword = true,
): PageContent {
  return {
    title: () => texts.accountTitle,
    body: () =>
      html`<section>
          <h2>${texts.roles}</h2>
          ${table({
            columns: [{ title: texts.installation }, { title: texts.role }, { title: texts.until }],
            rows: granted.map(({ installation, role, until }) => [installation, roleNames[role], until]),
          })}
        </section>
        <section class="narrow">
          ${form(
            session,
            '/account/language',
            html`${choice({
              name: 'language',
              label: texts.language,
              value: session.language,
              options: languages.map((value) => ({ value, text: languageNames[value] })),
            })}
              <button>${texts.languageSubmit}</button>`,
          )}
        </section>
        ${hasPassword ? passwordForm(session, fault) : null}`,
  };
}

function passwordForm(session: Session, fault: (() => string) | null): Node {
  return html`<section class="narrow">
          <h2>${texts.changePassword}</h2>
          ${form(
            session,
            '/account/password',
            html`${problem(fault?.() ?? null)}
              ${field({ name: 'present', label: texts.presentPassword, type: 'password', autocomplete: 'current-password', isRequired: true })}
              ${passwordFields()}
              <button>${texts.changePassword}</button>`,
          )}
        </section>`;
}
