import type { InstallationConfig } from '../config/load-config.ts';
import type { lastClose } from '../ledger/close.ts';
import type { Language } from '../texts/catalogue.ts';
import { consoleErrors, consoleTexts, screenNames, signInTexts } from '../texts/console/console.ts';
import type { ConsoleContext } from './context.ts';
import { type Content, html, local, type Node } from './html.ts';
import type { PageContent } from './route.ts';
import { staticAddress } from './static-files.ts';
import type { Permission, Rights } from './users/rights.ts';
import type { Session } from './users/sessions.ts';
import { formToken } from './users/tokens.ts';

/** What the head of a page shows of the request. */
export interface Frame {
  rights: Rights;
  installation: InstallationConfig | null;
  /** The last close or reopening of the installation's books. Null if there is none, or without an installation. */
  lastClose: Awaited<ReturnType<typeof lastClose>>;
  path: string;
}

interface Around {
  context: ConsoleContext;
  session: Session | null;
  language: Language;
  frame: Frame | null;
}

/** The screens of an installation, with the permission that each needs. The order is that of the navigation. */
const screens: readonly { path: string; name: keyof typeof screenNames; needs: Permission }[] = [
  { path: 'month', name: 'month', needs: 'read_books' },
  { path: 'decide', name: 'decide', needs: 'read_books' },
  { path: 'documents', name: 'documents', needs: 'read_books' },
  { path: 'reports', name: 'reports', needs: 'read_books' },
  { path: 'mapping', name: 'mapping', needs: 'read_books' },
  { path: 'delivery', name: 'delivery', needs: 'read_operations' },
  { path: 'windows', name: 'windows', needs: 'read_operations' },
  { path: 'audit', name: 'audit', needs: 'read_books' },
];

/** A page with head, navigation and content. */
export function framed(page: PageContent, around: Around): Node {
  const { session, language, frame } = around;
  const title = page.title();
  return html`<html lang=${language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      ${page.refreshSeconds === undefined ? null : html`<noscript><meta http-equiv="refresh" content=${page.refreshSeconds} /></noscript>`}
      <title>${title} – ${consoleTexts.product}</title>
      <link rel="icon" href=${staticAddress('icon.svg')} />
      <link rel="stylesheet" href=${staticAddress('style.css')} />
      <script src=${staticAddress('console.js')} defer></script>
    </head>
    <body>
      <a class="skip" href="#content">${consoleTexts.skip}</a>
      ${session === null ? null : head(session, frame)}
      <main id="content" tabindex="-1" data-refresh=${page.refreshSeconds}>
        <h1>${title}</h1>
        ${page.body()}
      </main>
    </body>
  </html>`;
}

function head(session: Session, frame: Frame | null): Node {
  const installation = frame?.installation ?? null;
  return html`<header class="head">
    <a class="brand" href="/">${consoleTexts.product}</a>
    ${
      installation === null
        ? null
        : html`<span class="clinic">${installation.name ?? ''} <span class="id">${installation.id}</span></span>
            <span class="period">${periodText(frame?.lastClose ?? null)}</span>`
    }
    ${frame === null ? null : navigation(frame)}
    <span class="who">
      <a href="/account">${session.name}</a>
      ${form(session, '/sign-out', html`<button class="quiet">${consoleTexts.signOut}</button>`)}
    </span>
  </header>`;
}

function periodText(last: Frame['lastClose']): string {
  if (last === null) return consoleTexts.booksOpen;
  const { kind, through, by } = last;
  return kind === 'close' ? consoleTexts.booksClosed({ through, by }) : consoleTexts.booksReopened({ through, by });
}

function navigation({ rights, installation, path }: Frame): Node {
  const here = path.split('?')[0] ?? '';
  const link = (to: string, name: string) =>
    html`<a href=${to} aria-current=${here === to || here.startsWith(`${to}/`) ? 'page' : undefined}>${name}</a>`;
  const own = installation === null ? [] : screens.filter(({ needs }) => rights.may(needs, installation.id));
  return html`<nav aria-label=${consoleTexts.screens}>
    ${rights.where('read_operations').length > 0 ? link('/clinics', screenNames.clinics) : null}
    ${own.map((screen) => link(`/${installation?.id}/${screen.path}`, screenNames[screen.name]))}
    ${rights.where('operate').length > 0 ? link('/machine', screenNames.machine) : null}
    ${rights.may('manage_users', null) ? link('/users', screenNames.users) : null}
  </nav>`;
}

/** A form that changes something. It carries the token of the session. */
export function form(session: Session, action: string, content: Content): Node {
  return html`<form method="post" action=${local(action)}>
    <input type="hidden" name="csrf" value=${formToken(session.token)} />
    ${content}
  </form>`;
}

/** The pages about errors. */
export const errorPage = {
  missing: () =>
    plain(
      () => consoleErrors.missingTitle,
      () => consoleErrors.missing,
    ),
  form: () =>
    plain(
      () => consoleErrors.formTitle,
      () => consoleErrors.form,
    ),
  signedOut: () =>
    plain(
      () => consoleErrors.signedOutTitle,
      () => consoleErrors.signedOut,
      () => html`<p><a href="/sign-in">${signInTexts.title}</a></p>`,
    ),
  malformed: () =>
    plain(
      () => consoleErrors.malformedTitle,
      () => consoleErrors.malformed,
    ),
  busy: () =>
    plain(
      () => consoleErrors.busyTitle,
      () => consoleErrors.busy,
    ),
  failed: (id: string) =>
    plain(
      () => consoleErrors.failedTitle,
      () => consoleErrors.failed({ id }),
    ),
} as const;

function plain(title: () => string, text: () => string, more?: () => Node): PageContent {
  return { title, body: () => html`<p>${text()}</p>${more?.()}` };
}
