import type { Config } from '../../../config/load-config.ts';
import { shown } from '../../../languages/language.ts';
import type { AuditedAction } from '../../../queries/audit.ts';
import { languages } from '../../../texts/catalogue.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { actionKindNames, auditTexts } from '../../../texts/console/audit.ts';
import { roleNames, screenNames, signInTexts } from '../../../texts/console/console.ts';
import { userPageTexts as texts } from '../../../texts/console/user-pages.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import { columnTitles as columns } from '../../../texts/reports/columns.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { facts } from '../../parts/facts.ts';
import { choice, field, languageNames, problem } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { PageContent } from '../../route.ts';
import { roles } from '../../users/rights.ts';
import type { Session } from '../../users/sessions.ts';
import type { HeldRole, Subject } from '../../users/subjects.ts';

/** The fault of a form: a text of its fields, or the reason why a change is not possible. */
export type Fault = (() => string) | PlainError | null;

function faultView(fault: Fault): Node | null {
  if (fault === null || typeof fault === 'function') return problem(fault?.() ?? null);
  return html`<div class="problem" role="alert"><p>${shown(fault.message)}</p><p>${shown(fault.todo)}</p></div>`;
}

const pathOf = (name: string) => local(`/users/${encodeURIComponent(name)}`);

export function userListPage(list: {
  session: Session;
  config: Config;
  subjects: readonly Subject[];
  granted: readonly HeldRole[];
  changes: readonly AuditedAction[];
  form: Readonly<Record<string, string>>;
  fault: Fault;
}): PageContent {
  const { session, subjects, granted, changes } = list;
  const names = new Map(subjects.map(({ id, name }) => [id, name]));
  return {
    title: () => screenNames.users,
    body: () => html`${table({
      columns: [texts.name, texts.state, signInTexts.roles, texts.account, texts.identity].map((title) => ({ title })),
      rows: subjects.map((each) => [
        html`<a href=${pathOf(each.name)}>${each.name}</a>`,
        each.isDisabled ? texts.disabled : texts.active,
        granted
          .filter(({ subjectId }) => subjectId === each.id)
          .map(roleText)
          .join('; '),
        each.account,
        each.issuedSubject,
      ]),
    })}
      <section class="narrow">
        <h2>${texts.addTitle}</h2>
        ${faultView(list.fault)}
        ${form(
          session,
          '/users',
          html`${field({ name: 'name', label: signInTexts.name, value: list.form.name ?? '', isRequired: true })}
            ${choice({
              ...{ name: 'language', label: signInTexts.language, value: list.form.language ?? session.language },
              options: languages.map((value) => ({ value, text: languageNames[value] })),
            })}
            ${reasonField()}
            <button>${texts.add}</button>`,
        )}
      </section>
      <section>
        <h2>${texts.changes}</h2>
        ${table({
          columns: [texts.at, texts.person, texts.action, texts.name, columns.reason].map((title) => ({ title })),
          rows: changes.map((each) => changeRow(each, names)),
        })}
      </section>`,
  };
}

function changeRow({ askedAt, person, kind, input, reason }: AuditedAction, names: ReadonlyMap<number, string>) {
  const { user, role, installation }: { user?: number; role?: string; installation?: number } = JSON.parse(input);
  const kindName = Object.hasOwn(actionKindNames, kind) ? actionKindNames[kind as keyof typeof actionKindNames] : kind;
  const about = [names.get(user ?? 0), role, installation].filter((part) => part !== undefined && part !== null);
  return [
    `${askedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    person,
    kindName,
    about.join(' '),
    reason ?? auditTexts.erased,
  ];
}

function roleText({ role, installation, until }: HeldRole): string {
  return [roleNames[role], installation, until === null ? null : `≤ ${until}`]
    .filter((part) => part !== null)
    .join(' ');
}

export function userPage({
  session,
  config,
  subject,
  granted,
  fault,
}: {
  session: Session;
  config: Config;
  subject: Subject;
  granted: readonly HeldRole[];
  fault: Fault;
}): PageContent {
  const { name, isDisabled, account, issuer, issuedSubject } = subject;
  const changing = (change: string, content: Content, title: string, hint = '') =>
    html`<section class="narrow">
      <h2>${title}</h2>
      ${hint === '' ? null : html`<p>${hint}</p>`}
      ${form(session, pathOf(name), html`<input type="hidden" name="change" value=${change} />${content}`)}
    </section>`;
  return {
    title: () => texts.user({ name }),
    body: () => html`${faultView(fault)}
      ${facts([
        [texts.state, isDisabled ? texts.disabled : texts.active],
        [texts.account, account],
        [texts.identity, issuedSubject === null ? texts.noIdentity : `${issuer} ${issuedSubject}`],
      ])}
      ${table({
        columns: [signInTexts.role, signInTexts.installation, signInTexts.until, ''].map((title) => ({ title })),
        rows: granted.map((held) => [
          roleNames[held.role],
          held.installation,
          held.until,
          isDisabled ? null : revokeForm(session, name, held),
        ]),
      })}
      ${isDisabled ? null : changesView()}`,
  };
  function changesView(): Node {
    const { oidc, passwords } = config.console ?? { oidc: null, passwords: true };
    const clinics = config.installations.map(({ id, name: clinic }) => ({
      value: String(id),
      text: [id, clinic].filter((part) => part !== null).join(' '),
    }));
    return html`${changing(
      'grant',
      html`${choice({
        ...{ name: 'role', label: signInTexts.role, value: 'viewer' },
        options: roles.map((value) => ({ value, text: roleNames[value] })),
      })}
        ${choice({
          ...{ name: 'installation', label: signInTexts.installation, value: clinics[0]?.value ?? '' },
          options: [...clinics, { value: '', text: texts.everywhere }],
        })}
        ${field({ name: 'until', label: signInTexts.until, type: 'date', hint: texts.untilHint })}
        ${reasonField()}
        <button>${texts.grant}</button>`,
      texts.grantTitle,
    )}
    ${
      passwords
        ? changing(
            'password',
            html`${reasonField()}<button>${texts.passwordSubmit}</button>`,
            texts.passwordTitle,
            texts.passwordHint,
          )
        : null
    }
    ${oidc === null ? null : linkForm('identity', issuedSubject, texts.identityTitle, texts.identityHint, texts.identityLink)}
    ${linkForm('account', account, texts.accountTitle, texts.accountHint, texts.accountLink)}
    ${changing(
      'disable',
      html`${reasonField()}<button>${texts.disable}</button>`,
      texts.disableTitle,
      texts.disableHint,
    )}`;
  }
  function linkForm(what: string, present: string | null, title: string, hint: string, submit: string): Node {
    const input =
      present === null
        ? field({ name: what, label: title, isRequired: true })
        : html`<input type="hidden" name=${what} value="" /><p>${present}</p>`;
    const button = present === null ? submit : texts.identityRemove;
    return changing('link', html`${input} ${reasonField()}<button>${button}</button>`, title, hint);
  }
}

function revokeForm(session: Session, name: string, { role, installation }: HeldRole): Node {
  return form(
    session,
    pathOf(name),
    html`<input type="hidden" name="change" value="revoke" />
      <input type="hidden" name="role" value=${role} />
      <input type="hidden" name="installation" value=${installation ?? ''} />
      <input type="text" name="reason" aria-label=${actionTexts.reason} placeholder=${actionTexts.reason} required />
      <button>${texts.revoke}</button>`,
  );
}

function reasonField(): Node {
  return field({ name: 'reason', label: actionTexts.reason, isRequired: true });
}

/** The page with a new link, which is shown only once. Without a link, the person has no password. */
export function linkPage(path: string, name: string, link: string | null): PageContent {
  return {
    title: () => texts.user({ name }),
    body: () => html`${
      link === null
        ? html`<p role="status">${texts.linkAgain}</p>`
        : html`<h2>${texts.linkTitle}</h2><p role="status">${texts.linkOnce}</p><p><code>${link}</code></p>`
    }
      <p><a href=${local(path)}>${texts.user({ name })}</a></p>`,
  };
}
