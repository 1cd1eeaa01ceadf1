import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import type { Language } from '../texts/catalogue.ts';
import type { ConsoleContext } from './context.ts';
import type { Node } from './html.ts';
import type { Permission, Rights } from './users/rights.ts';
import type { Session } from './users/sessions.ts';

/**
 * Who may use a route. `anyone` needs no sign-in, `signed_in` no role. A permission is required in the installation of the
 * path, in any installation, or in the database.
 */
export type Access =
  | { who: 'anyone' | 'signed_in' }
  | { who: Permission; in: 'installation' | 'any_installation' | 'database' };

/** The record that a route leaves. `nothing` is allowed only for reading. */
export type AuditEvent = 'nothing' | 'sign_in' | 'sign_out' | 'password' | 'settings' | 'users' | 'action';

interface CommonRoute {
  /** Path with parameters, such as `/:installation/month`. */
  path: string;
  audit: AuditEvent;
}

export interface OpenRoute extends CommonRoute {
  method: 'GET' | 'POST';
  access: { who: 'anyone' };
  /** The route asks another server. It has no transaction meanwhile, so that a slow server keeps no connection. */
  isRemote?: true;
  answer(request: OpenRequest): Promise<Answer>;
}

export interface SignedInRoute extends CommonRoute {
  method: 'GET' | 'POST';
  access: { who: 'signed_in' } | { who: Permission; in: 'any_installation' | 'database' };
  answer(request: SignedInRequest): Promise<Answer>;
}

export interface InstallationRoute extends CommonRoute {
  method: 'GET' | 'POST';
  access: { who: Permission; in: 'installation' };
  /** The page may take seconds, so a user gets one such page at a time. */
  isHeavy?: true;
  answer(request: InstallationRequest): Promise<Answer>;
}

export type Route = OpenRoute | SignedInRoute | InstallationRoute;

export interface OpenRequest {
  context: ConsoleContext;
  /** The connection of the request: a transaction that sees the installations of the route. */
  db: Connection;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The fields of the form; empty for GET. */
  form: Readonly<Record<string, string>>;
  /** The address of the browser. */
  address: string;
  /** The origin of this console, as the browser knows it. */
  origin: string;
  /** The secret of this browser's sign-in at the OpenID provider. */
  attempt: string | null;
  now: Date;
  language: Language;
  session: Session | null;
}

export interface SignedInRequest extends OpenRequest {
  session: Session;
  rights: Rights;
}

export interface InstallationRequest extends SignedInRequest {
  installation: InstallationConfig;
}

/** The answer to a request. A page is rendered later, in the language of the subject; rendering cannot wait. */
export type Answer =
  | { page: PageContent; status?: number; attempt?: { end: true } }
  | { redirect: string; session?: CookieChange; attempt?: CookieChange }
  | { file: { name: string; type: string; pieces: AsyncIterable<string> | Iterable<string | Buffer> } }
  | { missing: true };

/** A cookie after the answer: a new token, or none. */
export type CookieChange = { begin: string } | { end: true };

export interface PageContent {
  /** The browser asks for the page again after this number of seconds. */
  refreshSeconds?: number;
  title(): string;
  body(): Node;
}

/** A route whose declaration contradicts itself. The console does not start with it. */
export class RouteFault extends Error {}

/** Checks the table of routes. Throws RouteFault for a route that could act without a record, or without an installation. */
export function checkRoutes(routes: readonly Route[]): void {
  const seen = new Set<string>();
  for (const { method, path, access, audit } of routes) {
    const name = `${method} ${path}`;
    const fault = (what: string) => new RouteFault(`${name} ${what}`);
    if (access === undefined || audit === undefined) throw fault('declares no access or no audit event');
    if (seen.has(name)) throw fault('exists twice');
    seen.add(name);
    // The answer of an OpenID provider arrives as GET. The cookie of the attempt protects it as a token protects a form.
    const isReturn = method === 'GET' && audit === 'sign_in' && access.who === 'anyone';
    if ((method === 'POST') === (audit === 'nothing') && !isReturn)
      throw fault('must leave a record exactly if it changes something');
    const inInstallation = 'in' in access && access.in === 'installation';
    if (path.startsWith('/:installation') !== inInstallation)
      throw fault('must name the installation exactly if its permission belongs to one');
  }
}
