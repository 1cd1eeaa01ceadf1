import { isCalendarDate } from '../../../domain/dates.ts';
import { UserError } from '../../../domain/errors.ts';
import { languageOf } from '../../../languages/language.ts';
import { lastWholeActions } from '../../../queries/audit.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { userPageTexts as texts } from '../../../texts/console/user-pages.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import type { Answer, Route, SignedInRequest } from '../../route.ts';
import {
  addUser,
  disableUser,
  giveRole,
  linkUser,
  renewPassword,
  takeRole,
  type UserLink,
} from '../../users/changes.ts';
import { type GrantedRole, roles } from '../../users/rights.ts';
import { allRoles, allSubjects, subjectNamed } from '../../users/subjects.ts';
import { type Fault, linkPage, userListPage, userPage } from './view.ts';

const admins = { access: { who: 'manage_users', in: 'database' } } as const;

/** Users, for administrators. Each change takes effect at once and is recorded as an action: it needs no daemon. */
export const usersRoutes: readonly Route[] = [
  {
    ...admins,
    method: 'GET',
    path: '/users',
    audit: 'nothing',
    answer: (request: SignedInRequest) => list(request, null),
  },
  { ...admins, method: 'POST', path: '/users', audit: 'users', answer: add },
  {
    ...admins,
    method: 'GET',
    path: '/users/:name',
    audit: 'nothing',
    answer: (request: SignedInRequest) => show(request, null),
  },
  { ...admins, method: 'POST', path: '/users/:name', audit: 'users', answer: change },
];

const shownChanges = 50;
const longestReason = 1000;

async function list({ context, db, session, form }: SignedInRequest, fault: Fault): Promise<Answer> {
  const [subjects, granted] = [await allSubjects(db), await allRoles(db)];
  const changes = await lastWholeActions(db, shownChanges);
  const page = userListPage({ ...{ session, subjects, granted, changes, form, fault }, config: context.config });
  return { page, status: fault === null ? 200 : 400 };
}

async function show({ context, db, session, params: { name = '' } }: SignedInRequest, fault: Fault): Promise<Answer> {
  const subject = await subjectNamed(db, name);
  if (subject === null) return { missing: true };
  const granted = (await allRoles(db)).filter(({ subjectId }) => subjectId === subject.id);
  return {
    page: userPage({ ...{ session, subject, granted, fault }, config: context.config }),
    status: fault === null ? 200 : 400,
  };
}

async function add(request: SignedInRequest): Promise<Answer> {
  const { form, context, origin } = request;
  const name = (form.name ?? '').trim();
  const language = languageOf(form.language ?? '') ?? 'en';
  const done = await changed(request, (trx, by) => addUser(trx, { name, language }, by));
  if ('fault' in done) return list(request, done.fault);
  const path = `/users/${encodeURIComponent(name.toLowerCase())}`;
  const link = context.config.console?.passwords === false ? null : `${origin}/password/${done.value}`;
  return { page: linkPage(path, name.toLowerCase(), link) };
}

/** One change of a user, named by the field `change`. */
async function change(request: SignedInRequest): Promise<Answer> {
  const { db, form, origin, params } = request;
  const subject = await subjectNamed(db, params.name ?? '');
  if (subject === null) return { missing: true };
  const { name } = subject;
  const path = `/users/${encodeURIComponent(name)}`;
  if (form.change === 'password') {
    const done = await changed(request, (trx, by) => renewPassword(trx, name, by));
    return 'fault' in done
      ? show(request, done.fault)
      : { page: linkPage(path, name, `${origin}/password/${done.value}`) };
  }
  const work = workOf(request, name);
  if (typeof work !== 'function') return show(request, work.fault);
  const done = await changed(request, work);
  return 'fault' in done ? show(request, done.fault) : { redirect: path };
}

type Work<T> = (trx: Parameters<typeof disableUser>[0], by: Parameters<typeof disableUser>[2]) => Promise<T>;

/** The work of a form, or the fault of its fields. */
function workOf(request: SignedInRequest, name: string): Work<void> | { fault: () => string } {
  const { form } = request;
  switch (form.change) {
    case 'grant':
    case 'revoke': {
      const granted = roleOf(request);
      if ('fault' in granted) return granted;
      const work = form.change === 'grant' ? giveRole : takeRole;
      return (trx, by) => work(trx, name, granted, by);
    }
    case 'link': {
      const link = linkOf(request);
      return link === null ? { fault: () => texts.subjectMissing } : (trx, by) => linkUser(trx, name, link, by);
    }
    case 'disable':
      return (trx, by) => disableUser(trx, name, by);
    default:
      return { fault: () => actionTexts.formOld };
  }
}

function roleOf({ context, form }: SignedInRequest): GrantedRole | { fault: () => string } {
  const role = roles.find((each) => each === form.role);
  const until = form.until?.trim() || null;
  const installation = context.config.installations.find(({ id }) => String(id) === form.installation)?.id ?? null;
  if (role === undefined) return { fault: () => actionTexts.formOld };
  if ((role === 'admin') !== (installation === null)) return { fault: () => texts.installationMissing };
  if (until !== null && !isCalendarDate(until)) return { fault: () => texts.untilInvalid };
  return { role, installation, until };
}

/** The account or the identity of a form; an empty one ends the link. Null without a field or a provider. */
function linkOf({ context, form }: SignedInRequest): UserLink | null {
  if (form.account !== undefined) return { account: form.account.trim().slice(0, 100) || null };
  if (form.identity === undefined) return null;
  const subject = form.identity.trim().slice(0, 300);
  const issuer = context.config.console?.oidc?.issuer;
  if (subject === '') return { identity: null };
  return issuer === undefined ? null : { identity: { issuer, subject } };
}

/** Makes a change with its action, or returns its fault and changes nothing. */
async function changed<T>(
  { db, session, form }: SignedInRequest,
  work: Work<T>,
): Promise<{ value: T } | { fault: (() => string) | PlainError }> {
  const reason = (form.reason ?? '').trim();
  if (reason === '' || reason.length > longestReason) return { fault: () => actionTexts.reasonMissing };
  try {
    return { value: await db.transaction((trx) => work(trx, { actedBy: session.name, reason })) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, todo } = error;
    return { fault: { code, message, todo } };
  }
}
