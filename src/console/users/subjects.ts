import { bool, date, integer, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { type Language, languages } from '../../texts/catalogue.ts';
import { type GrantedRole, roles } from './rights.ts';
import { newToken, tokenHash } from './tokens.ts';

/** A person who can sign in to the console. */
export interface Subject {
  id: number;
  /** The name for the sign-in, in lower case. It also stands in the chain of actions. */
  name: string;
  language: Language;
  isDisabled: boolean;
  /** The account of the operating system with which this person uses the command line. */
  account: string | null;
  /** The identity at an OpenID provider, or null: the issuer, and the subject as the issuer names it. */
  issuer: string | null;
  issuedSubject: string | null;
}

export interface Identity {
  issuer: string;
  subject: string;
}

const subject = {
  id: integer,
  name: text,
  language: oneOf(languages),
  isDisabled: bool,
  account: nullable(text),
  issuer: nullable(text),
  issuedSubject: nullable(text),
};
const columns = `s.id, s.name, s.language, s.disabled_at is not null as "isDisabled", s.account,
  s.issuer, s.issued_subject as "issuedSubject"`;

/** How long a link for a sign-in or a password is valid. */
const linkMinutes = { sign_in: 60, password: 24 * 60 } as const;
export type LinkPurpose = keyof typeof linkMinutes;

/** Adds a subject. Null if the name was used before, also by a disabled subject. */
export async function addSubject(db: Connection, name: string, language: Language): Promise<number | null> {
  const added = await maybeRow(
    db,
    { id: integer },
    'insert into vetledger_console.subject (name, language) values (lower(?), ?) on conflict do nothing returning id',
    [name, language],
  );
  return added?.id ?? null;
}

export async function subjectNamed(db: Connection, name: string): Promise<Subject | null> {
  return maybeRow(db, subject, `select ${columns} from vetledger_console.subject s where s.name = lower(?)`, [name]);
}

/** Whether anyone can use the console. */
export async function hasSubjects(db: Connection): Promise<boolean> {
  const sql = 'select exists (select from vetledger_console.subject where disabled_at is null) as found';
  return (await row(db, { found: bool }, sql)).found;
}

export async function allSubjects(db: Connection): Promise<Subject[]> {
  return rows(db, subject, `select ${columns} from vetledger_console.subject s order by s.name limit 1000`);
}

export async function passwordHashOf(db: Connection, id: number): Promise<string | null> {
  const found = await row(
    db,
    { hash: nullable(text) },
    'select password_hash as hash from vetledger_console.subject where id = ?',
    [id],
  );
  return found.hash;
}

/** Sets the password and ends all sessions of the subject, because someone else may have begun one. */
export async function setPassword(trx: Connection, id: number, hash: string): Promise<void> {
  await execute(trx, 'update vetledger_console.subject set password_hash = ? where id = ?', [hash, id]);
  await endSessions(trx, id);
  await execute(trx, 'delete from vetledger_console.link where subject_id = ?', [id]);
}

export async function setLanguage(db: Connection, id: number, language: Language): Promise<void> {
  await execute(db, 'update vetledger_console.subject set language = ? where id = ?', [language, id]);
}

/** Disables a subject and ends the sessions. The name stays, because the chain of actions contains it. */
export async function disableSubject(trx: Connection, id: number): Promise<void> {
  await execute(trx, 'update vetledger_console.subject set disabled_at = clock_timestamp() where id = ?', [id]);
  await endSessions(trx, id);
  await execute(trx, 'delete from vetledger_console.link where subject_id = ?', [id]);
}

async function endSessions(trx: Connection, id: number): Promise<void> {
  await execute(trx, 'delete from vetledger_console.session where subject_id = ?', [id]);
}

export async function rolesOf(db: Connection, id: number): Promise<GrantedRole[]> {
  return rows(
    db,
    { role: oneOf(roles), installation: nullable(integer), until: nullable(date) },
    'select role, installation, until from vetledger_console.subject_role where subject_id = ? order by installation, role',
    [id],
  );
}

/** A role with its subject. */
export type HeldRole = GrantedRole & { subjectId: number };

export async function allRoles(db: Connection): Promise<HeldRole[]> {
  return rows(
    db,
    { subjectId: integer, role: oneOf(roles), installation: nullable(integer), until: nullable(date) },
    `select subject_id as "subjectId", role, installation, until from vetledger_console.subject_role
     order by subject_id, installation, role limit 10000`,
  );
}

/** Grants a role, or changes its last day. */
export async function grantRole(db: Connection, id: number, { role, installation, until }: GrantedRole): Promise<void> {
  await execute(
    db,
    `insert into vetledger_console.subject_role as r (subject_id, installation, role, until) values (?, ?, ?, ?)
     on conflict (subject_id, installation, role) do update set until = excluded.until`,
    [id, installation, role, until],
  );
}

/** Takes a role away. False if the subject did not have it. */
export async function revokeRole(
  db: Connection,
  id: number,
  role: string,
  installation: InstallationId | null,
): Promise<boolean> {
  const removed = await execute(
    db,
    'delete from vetledger_console.subject_role where subject_id = ? and role = ? and installation is not distinct from ?',
    [id, role, installation],
  );
  return removed > 0;
}

/** The administrators without a last day who can sign in. */
export async function lastingAdmins(db: Connection): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from vetledger_console.subject_role r join vetledger_console.subject s on s.id = r.subject_id
     where r.role = 'admin' and r.until is null and s.disabled_at is null`,
  );
  return n;
}

/** The user to whom an account of the operating system is linked. */
export async function subjectOfAccount(db: Connection, account: string): Promise<Subject | null> {
  return maybeRow(db, subject, `select ${columns} from vetledger_console.subject s where s.account = ?`, [account]);
}

/** Links an account of the operating system, or ends the link (null). */
export async function linkAccount(db: Connection, id: number, account: string | null): Promise<void> {
  await execute(db, 'update vetledger_console.subject set account = ? where id = ?', [account, id]);
}

export async function subjectOfIdentity(db: Connection, identity: Identity): Promise<Subject | null> {
  return maybeRow(
    db,
    subject,
    `select ${columns} from vetledger_console.subject s where s.issuer = ? and s.issued_subject = ?`,
    [identity.issuer, identity.subject],
  );
}

/** Links an identity of an OpenID provider, or ends the link (null). Sessions end, because the old identity may have begun them. */
export async function linkIdentity(trx: Connection, id: number, identity: Identity | null): Promise<void> {
  await execute(trx, 'update vetledger_console.subject set issuer = ?, issued_subject = ? where id = ?', [
    ...[identity?.issuer ?? null, identity?.subject ?? null],
    id,
  ]);
  await endSessions(trx, id);
}

/** Makes a link that works once. Returns its token, which the database does not contain. */
export async function makeLink(db: Connection, id: number, purpose: LinkPurpose): Promise<string> {
  const token = newToken();
  await execute(
    db,
    `insert into vetledger_console.link (token_hash, subject_id, purpose, expires_at)
     values (?, ?, ?, clock_timestamp() + make_interval(mins => ?))`,
    [tokenHash(token), id, purpose, linkMinutes[purpose]],
  );
  await execute(db, 'delete from vetledger_console.link where expires_at < clock_timestamp()');
  return token;
}

/** The subject of a link that is still valid. It stays valid: only `useLink` ends it. */
export async function linkedSubject(db: Connection, token: string, purpose: LinkPurpose): Promise<Subject | null> {
  return maybeRow(
    db,
    subject,
    `select ${columns} from vetledger_console.link l join vetledger_console.subject s on s.id = l.subject_id
     where l.token_hash = ? and l.purpose = ? and l.expires_at > clock_timestamp() and s.disabled_at is null`,
    [tokenHash(token), purpose],
  );
}

/** Ends a link and returns its subject. Null if the link is not valid, or was used before. */
export async function useLink(trx: Connection, token: string, purpose: LinkPurpose): Promise<Subject | null> {
  const found = await linkedSubject(trx, token, purpose);
  if (found === null) return null;
  const ended = await execute(trx, 'delete from vetledger_console.link where token_hash = ?', [tokenHash(token)]);
  return ended === 1 ? found : null;
}
